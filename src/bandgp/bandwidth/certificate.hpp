// SPDX-License-Identifier: Apache-2.0
// The certificate: how far the answer can be from the dense, exact GP.                              [math.md
// §5] With (1−ρ)A ⪯ Ã ⪯ (1+ρ)A and q̃ = yᵀÃ⁻¹y:
//   |exact NLL − loss| ≤ ½[ρ q̃ − n log(1−ρ)]
//   |exact mean − mean| ≤ ρ √(ṽ q̃ (1+ρ)/(1−ρ)),   |exact variance − variance| ≤ ṽ ρ/(1−ρ)
// It covers what was left out of the matrix, not rounding in the factorisation.
#pragma once
#include "bandgp/base/index.hpp"
#include "bandgp/base/upper_bound.hpp"

namespace bandgp {

struct Certificate {
  bool positive_definite = false;
  UpperBound rho = UpperBound::infinite();
  UpperBound nll_error = UpperBound::infinite();
  UpperBound mean_error = UpperBound::infinite();      // at any x* inside the span of the data
  UpperBound variance_error = UpperBound::infinite();  // of the latent variance, likewise

  /// The loss is that of another model: there is nothing to bound.
  bool other_model = false;

  bool holds() const { return positive_definite && nll_error.is_finite(); }
  static Certificate of_another_model() {
    Certificate none;
    none.positive_definite = none.other_model = true;
    return none;
  }
};

/// What the bounds need besides ρ.
struct CertificateInputs {
  Index n = 0;
  double q = 0;               // q̃, profiled over the mean's coefficients
  double weights = 0;         // wᵀw, the part of q̃ that is a basis's, where there is one
  double prior_variance = 0;  // k(0)
  bool mean_estimated = false;
  double mean_variance = 0;   // largest hᵀ(HᵀÃ⁻¹H)⁻¹h over the span
  double cross_left_out = 0;  // ε = ‖D^{−½}e‖₂: entries of K*f that prediction leaves out, at most
};

/// What comes out of a factorisation: 1e-9 relative is far more than its rounding, and far less than matters.
UpperBound computed(double x);

/// The largest latent variance inside the span: `known` with the mean known.  Estimated coefficients add
/// uᵀCu, u = h* − HᵀÃ⁻¹k*, and √(uᵀCu) ≤ √(h*ᵀCh*) + √(k*ᵀÃ⁻¹k*), of which `explained` bounds the last.
UpperBound latent_bound(UpperBound known, UpperBound explained, const CertificateInputs& inputs);

Certificate make_certificate(UpperBound rho, const CertificateInputs& inputs);

/// |exact mean − mean| and |exact variance − variance| at one x* whose banded latent variance is v.
UpperBound mean_error(UpperBound rho, double q, double v, double cross_left_out);
UpperBound variance_error(UpperBound rho, double v, double cross_left_out);

}  // namespace bandgp
