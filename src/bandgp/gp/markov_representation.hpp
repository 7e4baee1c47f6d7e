// SPDX-License-Identifier: Apache-2.0
// A kernel all of whose terms have a state-space form, held by the filter that whitens it: O(n) whatever the
// length-scales.  Nothing is left out, so that ρ = 0, but for the high harmonics of a Matérn term times a
// periodic factor.                                                                         [math.md §7, §12]
#pragma once
#include "bandgp/gp/representation.hpp"
#include "bandgp/gp/state_form.hpp"
#include "bandgp/markov/filter.hpp"

namespace bandgp {

/// Whether every term of a kernel has a state-space form.
bool is_markov(const Kernel& kernel);

class MarkovRepresentation final : public Representation {
 public:
  MarkovRepresentation(double tolerance, double max_bytes, Index threads)
      : tolerance_(tolerance), max_bytes_(max_bytes), filter_(threads) {}

  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  Index reduced_size() const override { return points_->padded_size(); }
  Index carried_size() const override { return filter_.carried_size(); }
  std::optional<Failure> factor(RightHandSides b) override;
  bool reduce(RightHandSides b) override;
  double log_determinant() override { return filter_.log_determinant(); }
  void finish(RightHandSides b) override { filter_.solve_and_keep(b); }
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override { filter_.inverse_diagonal(out); }
  void whiten(double*, std::uint64_t) override {}  // scaled innovations are white already
  double rounding(double* column, const double* b) override;
  Certificate certificate(CertificateInputs inputs) const override;
  std::string_view name() const override { return "markov"; }
  Index bandwidth() const override { return 0; }
  double reach() const override { return 0; }
  double condition() override { return filter_.condition(); }
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override;
  void covariance(std::span<const double> x, double* out) override { filter_.covariance(x, out); }

 private:
  /// The state-space form at θ, with as many harmonics as the tolerance asks for.
  StateForm form(const Kernel& kernel, const Observations& points, double q_bound) const;
  Cost cost_of(const StateForm& form, const Observations& points) const;
  /// One flag for each of the form's terms: whether it belongs to one of these terms of the kernel.
  std::vector<bool> chosen(unsigned terms) const;

  double tolerance_, max_bytes_;
  const Kernel* kernel_ = nullptr;
  const Observations* points_ = nullptr;
  markov::Filter filter_;
  StateForm form_;
  std::vector<markov::TermSlopes> slopes_;
};

}  // namespace bandgp
