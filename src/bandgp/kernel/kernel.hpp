// SPDX-License-Identifier: Apache-2.0
// A covariance function is a flat sum of terms  k(τ) = Σ variance · ρ(|τ|/lengthscale).            [theory
// §12]
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bandgp/base/index.hpp"
#include "bandgp/kernel/shape.hpp"

namespace bandgp {

/// A parameter that the text form left open: `se` says neither variance nor length-scale.
inline constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();

struct Term {
  AnyShape shape;
  double variance = kUnset;
  double lengthscale = kUnset;
};

inline bool is_se(const Term& term) { return std::holds_alternative<Se>(term.shape); }

struct Kernel {
  std::vector<Term> terms;

  Kernel() = default;
  Kernel(std::vector<Term> sum) : terms(std::move(sum)) {}  // NOLINT implicit
  /// The text form: `"se + se"` can stand wherever a kernel is wanted.  Throws as parse_kernel does.
  Kernel(const char* text);  // NOLINT implicit

  /// k(0) = Σ variance: the prior variance of the latent curve.
  double variance() const;
  /// k(τ), one lag at a time; the fast paths are in tiles.hpp.
  double operator()(double lag) const;
  /// The |τ| from which every term vanishes; ∞ unless all are compactly supported.
  double support() const;
  /// One SE term and nothing else: what the paper's closed rules and the dual band are for.
  bool is_single_se() const { return terms.size() == 1 && is_se(terms.front()); }
  /// The terms whose bit is set, in order.
  Kernel subset(unsigned bits) const;
  /// True when every variance and length-scale has a value.
  bool complete() const;
};

/// Reads `0.8*se(lengthscale=20) + matern12`; throws std::invalid_argument naming the place and what was
/// expected.
Kernel parse_kernel(std::string_view text);

/// The text form; parse_kernel(to_text(k)) gives k back, bit by bit.
std::string to_text(const Kernel& kernel);

/// `variance, lengthscale, noise` for one term; `variance_1, lengthscale_1, variance_2, …, noise` for
/// several.
std::vector<std::string> parameter_names(const Kernel& kernel);

/// Throws std::invalid_argument unless every parameter is set, finite and positive.
void require_valid(const Kernel& kernel);

}  // namespace bandgp
