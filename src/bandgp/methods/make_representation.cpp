// SPDX-License-Identifier: Apache-2.0
#include "bandgp/methods/make_representation.hpp"

#include "bandgp/gp/auto_representation.hpp"
#include "bandgp/gp/columns_representation.hpp"
#include "bandgp/methods/exact_representation.hpp"
#include "bandgp/methods/low_rank_representation.hpp"
#include "bandgp/methods/vecchia_representation.hpp"

namespace bandgp {

std::unique_ptr<Representation> make_representation(const InternalCut& cut, double max_bytes, Index threads) {
  require_valid(cut);
  if (max_bytes <= 0) max_bytes = default_max_bytes();
  switch (cut.method) {
    case Method::exact:
      return std::make_unique<ExactRepresentation>(max_bytes);
    case Method::fitc:
      return std::make_unique<LowRankRepresentation>(LowRankRepresentation::Kind::fitc, cut.inducing,
                                                     max_bytes, cut.inducing_inputs);
    case Method::vfe:
      return std::make_unique<LowRankRepresentation>(LowRankRepresentation::Kind::vfe, cut.inducing,
                                                     max_bytes, cut.inducing_inputs);
    case Method::taper:
      return std::make_unique<BandRepresentation>(cut, max_bytes, threads);
    case Method::vecchia:
      return std::make_unique<VecchiaRepresentation>(cut.neighbours, max_bytes);
    case Method::automatic:
    case Method::band:
    case Method::dual:
      break;
  }
  return std::make_unique<ColumnsRepresentation>(
      std::make_unique<AutoRepresentation>(cut, max_bytes, threads), cut.tolerance, max_bytes);
}

}  // namespace bandgp
