// SPDX-License-Identifier: Apache-2.0
// What a converged fit should not be left to say by itself: results that mean less than they look.
#pragma once
#include <string>
#include <vector>

#include "bandgp/fit/fit.hpp"

namespace bandgp {

/// The least NLL of noise alone around the mean function, user's units: what a curve has to beat.
double white_noise_nll(const Series& series, Mean mean);

/// One sentence each: rounding as the limit, terms that the data do not support, too few observations, a
/// curve that noise explains as well, terms that are one, terms that are lost in the noise.  Empty where the
/// fit stands for itself, or came to nothing.
std::vector<std::string> remarks(const FitResult& fit);

}  // namespace bandgp
