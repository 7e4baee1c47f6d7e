// SPDX-License-Identifier: Apache-2.0
// Which valley of the loss to go down: a look at many starts, descents from the promising ones.
#pragma once
#include "bandgp/fit/period_starts.hpp"
#include "bandgp/fit/starts.hpp"
#include "bandgp/fit/trainer.hpp"

namespace bandgp {

struct SearchResult {
  Candidate best;
  /// Of a sum: the best found for the kernel without one of its terms, as models of the whole kernel in which
  /// that term has (numerically) no variance.  Their inverse Hessians are those of the other parameters.
  std::vector<Candidate> parts;
};

/// Where `fixed` and `init` give all parameters, that start is the only one.  Where what is found from given
/// values has a term with next to no variance, starts of the search's own are looked at, too.  The kernel has
/// periods; those that `fixed` and `init` leave open are looked for among `periods`, where it is given.
SearchResult search(Trainer& trainer, Stage& stage, const Kernel& kernel, Mean mean,
                    const InternalOptionals& fixed, const InternalOptionals& init, PeriodStarts* periods);

/// The parameters that are trained: all but the fixed ones and those of terms that have vanished.
Parameters trained_parameters(const InternalModel& model, const InternalOptionals& fixed,
                              const DataScale& scale);

/// A sum must gain more than this over one of its parts, nats, or it is that part.
inline constexpr double kLeastGain = 1e-3;

}  // namespace bandgp
