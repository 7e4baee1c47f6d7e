// SPDX-License-Identifier: Apache-2.0
// At every θ the cheapest of the representations that can be certified there: the filter where all terms have
// states, else the covariance band, or the dual of one SE term, or elements where SE terms oscillate or stand
// beside others.  All are the exact GP to the tolerance, so an optimiser does not notice when they take
// turns.
#pragma once
#include "bandgp/gp/band_representation.hpp"
#include "bandgp/gp/dual_representation.hpp"
#include "bandgp/gp/elements_representation.hpp"
#include "bandgp/gp/markov_representation.hpp"

namespace bandgp {

class AutoRepresentation final : public Representation {
 public:
  /// max_bytes 0: default_max_bytes().
  AutoRepresentation(const InternalCut& cut, double max_bytes, Index threads = 1);

  /// What one evaluation with gradient takes.
  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  /// Until thaw(), later choices keep the representation in use and, of a band, its entries: differences of
  /// the gradient are then differences of one function.
  void freeze() override;
  void thaw() override;

  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  Index reduced_size() const override { return current_->reduced_size(); }
  Index carried_size() const override { return current_->carried_size(); }
  Index basis_size() const override { return current_->basis_size(); }
  bool choose_again(const CertificateInputs& inputs) override { return current_->choose_again(inputs); }
  std::optional<Failure> factor(RightHandSides b) override { return current_->factor(b); }
  double log_determinant() override { return current_->log_determinant(); }
  void finish(RightHandSides b) override { current_->finish(b); }
  bool reduce(RightHandSides b) override { return current_->reduce(b); }
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override {
    current_->gradient(b, noise_slope, out);
  }
  void inverse_diagonal(std::span<double> out) override { current_->inverse_diagonal(out); }
  void whiten(double* column, std::uint64_t seed) override { current_->whiten(column, seed); }
  double rounding(double* column, const double* b) override { return current_->rounding(column, b); }
  Certificate certificate(CertificateInputs inputs) const override { return current_->certificate(inputs); }
  std::string_view name() const override { return current_->name(); }
  Index bandwidth() const override { return current_->bandwidth(); }
  double reach() const override { return current_->reach(); }
  double condition() override { return current_->condition(); }
  std::vector<BandShape> shapes() const override { return current_->shapes(); }
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override {
    return current_->predict(x, terms, solved, projection, variance);
  }
  void covariance(std::span<const double> x, double* out) override { current_->covariance(x, out); }
  std::optional<Weights> weights() override { return current_->weights(); }
  void draw_weights(std::span<double> white, std::uint64_t seed) override {
    current_->draw_weights(white, seed);
  }
  std::optional<DualState> state(RightHandSides solved) override { return current_->state(solved); }

 private:
  /// Whether the filter is used: O(n) at any length-scale, and nothing to certify.
  bool in_states(const Kernel& kernel) const { return method_ == Method::automatic && is_markov(kernel); }
  /// What holds the kernel where the band would cost more, or is not to be used; null where nothing does.
  Representation* beside_band(const Kernel& kernel, const Observations& points, double q_bound);
  /// Whether what that one chose last keeps the tolerance.
  bool certified(const Representation* other) const {
    return other == &dual_ ? dual_.reaches_tolerance() : elements_.reaches_tolerance();
  }

  Method method_;
  InternalCut cut_;
  double max_bytes_;
  BandRepresentation band_;
  DualRepresentation dual_;
  MarkovRepresentation markov_;
  ElementsRepresentation elements_;
  Representation* current_;
  bool frozen_ = false;
};

}  // namespace bandgp
