// SPDX-License-Identifier: Apache-2.0
#include "bandgp/bandwidth/certificate.hpp"

#include <algorithm>

namespace bandgp {
namespace {

/// 1/(1 − ρ) = 1 + ρ/(1 − ρ).
UpperBound inverse_one_minus(UpperBound rho) { return UpperBound::exactly(1) + over_one_minus(rho); }

}  // namespace

UpperBound computed(double x) { return UpperBound::of(std::max(0.0, x) * (1 + 1e-9)); }

UpperBound latent_bound(UpperBound known, UpperBound explained, const CertificateInputs& inputs) {
  if (!inputs.mean_estimated) return known;
  const UpperBound u = sqrt(computed(inputs.mean_variance)) + sqrt(explained);
  return known + u * u;
}

UpperBound mean_error(UpperBound rho, double q, double v, double cross_left_out) {
  const UpperBound one_plus = UpperBound::exactly(1) + rho;
  const UpperBound from_matrix = rho * sqrt(computed(v) * computed(q) * one_plus * inverse_one_minus(rho));
  const UpperBound from_cross = UpperBound::of(cross_left_out) * sqrt(computed(q) * inverse_one_minus(rho));
  return from_matrix + (cross_left_out == 0 ? UpperBound() : from_cross);
}

UpperBound variance_error(UpperBound rho, double v, double cross_left_out) {
  const UpperBound from_matrix = computed(v) * over_one_minus(rho);
  if (cross_left_out == 0) return from_matrix;
  const UpperBound e = UpperBound::of(cross_left_out), two = UpperBound::exactly(2);
  return from_matrix + two * e * sqrt(computed(v) * inverse_one_minus(rho)) + e * e * inverse_one_minus(rho);
}

Certificate make_certificate(UpperBound rho, const CertificateInputs& in) {
  Certificate c;
  c.positive_definite = true;
  c.rho = rho;
  if (!(rho.value() < 1)) return c;
  const UpperBound half = UpperBound::exactly(0.5);
  c.nll_error = half * (rho * computed(in.q) +
                        UpperBound::exactly(static_cast<double>(in.n)) * minus_log_one_minus(rho));
  // ṽ ≤ (1+ρ) v ≤ (1+ρ) k(0) with the mean known, and k*ᵀÃ⁻¹k* ≤ k(0)/(1−ρ).
  const UpperBound prior = computed(in.prior_variance);
  const UpperBound latent =
      latent_bound(prior * (UpperBound::exactly(1) + rho), prior * inverse_one_minus(rho), in);
  c.mean_error = mean_error(rho, in.q, latent.value(), in.cross_left_out);
  c.variance_error = variance_error(rho, latent.value(), in.cross_left_out);
  return c;
}

}  // namespace bandgp
