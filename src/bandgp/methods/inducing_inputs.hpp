// SPDX-License-Identifier: Apache-2.0
// The inducing inputs of FITC and VFE, which training may move as it moves parameters.
#pragma once
#include <span>

#include "bandgp/gp/representation.hpp"

namespace bandgp {

class InducingInputs {
 public:
  /// Internal times, from Representation::choose() on; they may be written to.
  virtual std::span<double> inputs() = 0;
  /// The slopes of the loss by them, from Representation::gradient() on.
  virtual std::span<const double> input_gradient() const = 0;

 protected:
  ~InducingInputs() = default;
};

/// Null where a representation has none.
inline InducingInputs* inducing_inputs(Representation& representation) {
  return dynamic_cast<InducingInputs*>(&representation);
}

}  // namespace bandgp
