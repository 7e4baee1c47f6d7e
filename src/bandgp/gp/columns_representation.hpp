// SPDX-License-Identifier: Apache-2.0
// Strictly periodic terms as columns over the whole series, on top of whatever holds the other terms:
// A = A₀ + ΓΓᵀ, where Γ has a constant and two columns for every harmonic of each such term, and A₀ is the
// covariance of the other terms and the noise.  One small dense matrix M = I + ΓᵀA₀⁻¹Γ does the rest.  What
// is left out are high harmonics, as many as the tolerance allows.                        [math.md §8, §12]
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "bandgp/gp/noise_representation.hpp"
#include "bandgp/gp/representation.hpp"
#include "bandgp/kernel/harmonics.hpp"

namespace bandgp {

class ColumnsRepresentation final : public Representation {
 public:
  /// `rest` holds the terms that are not strictly periodic; a kernel without such terms is its alone.
  ColumnsRepresentation(std::unique_ptr<Representation> rest, double tolerance, double max_bytes);
  ~ColumnsRepresentation() override;

  Cost cost(const Kernel& kernel, const Observations& points, double q_bound) override;
  void freeze() override;
  void thaw() override;
  std::optional<Failure> choose(const Kernel& kernel, const Observations& points, double q_bound) override;
  Index reduced_size() const override { return rest().reduced_size(); }
  Index carried_size() const override;
  double product(const double* a, const double* b, Index length) const override;
  Index basis_size() const override { return rest().basis_size(); }
  bool choose_again(const CertificateInputs& inputs) override { return rest().choose_again(inputs); }
  std::optional<Failure> factor(RightHandSides b) override;
  bool reduce(RightHandSides b) override;
  double log_determinant() override;
  void finish(RightHandSides b) override;
  void gradient(RightHandSides b, const double* noise_slope, std::span<double> out) override;
  void inverse_diagonal(std::span<double> out) override;
  void whiten(double* column, std::uint64_t seed) override;
  double rounding(double* column, const double* b) override;
  Certificate certificate(CertificateInputs inputs) const override;
  std::string_view name() const override;
  Index bandwidth() const override { return rest().bandwidth(); }
  double reach() const override { return rest().reach(); }
  double condition() override;
  std::vector<BandShape> shapes() const override { return rest().shapes(); }
  std::optional<Failure> predict(std::span<const double> x, unsigned terms, RightHandSides solved,
                                 double* projection, double* variance) override;
  void covariance(std::span<const double> x, double* out) override;
  std::optional<Weights> weights() override;
  void draw_weights(std::span<double> white, std::uint64_t seed) override {
    rest().draw_weights(white, seed);
  }
  std::optional<DualState> state(RightHandSides solved) override;

  /// Columns of Γ; 0 where no term is strictly periodic.
  Index columns() const;

 private:
  struct Repeating;  // a strictly periodic term and its columns
  struct Small;      // M and its factor
  Representation& rest() { return *current_; }
  const Representation& rest() const { return *current_; }
  void split(const Kernel& kernel, const Observations& points, double& q_bound);
  double bytes(const Observations& points) const;
  /// Where the weights of the columns begin in a reduced column: behind all that belongs to the rest.
  Index weights_at() const { return stride_; }
  void fill_columns(double* to) const;
  void values_at(const Repeating& term, double x, double* out) const;
  void weigh(RightHandSides b) const;
  void solve_columns();
  unsigned terms_of_rest(unsigned terms) const;
  /// Γ(x)ᵀ of the chosen terms less what A₀'s projection explains of it, one row for each x.
  std::vector<double> unexplained(std::span<const double> x, unsigned terms,
                                  const std::vector<double>& projection) const;

  std::unique_ptr<Representation> others_;  // what holds terms that are not strictly periodic
  NoiseRepresentation noise_;               // the rest where all terms are
  Representation* current_;
  double tolerance_, max_bytes_;
  bool frozen_ = false;
  const Kernel* kernel_ = nullptr;
  Kernel rest_kernel_;
  const Observations* points_ = nullptr;
  double middle_ = 0;  // phases are from the middle of the series
  std::vector<Repeating> repeating_;
  std::vector<int> place_in_rest_;  // of each term of the kernel; −1 for a strictly periodic one
  UpperBound left_out_;             // variance of all harmonics that are left out
  Index stride_ = 0;                // of a column of the rest
  AlignedBuffer gamma_;             // Γ, reduced by the factor of A₀
  AlignedBuffer joint_;             // Γ and further columns, solved
  AlignedBuffer reduced_;           // the columns that finish() was given last, as they were
  Index finished_ = 0;              // their number
  bool columns_solved_ = false;     // whether joint_ holds A₀⁻¹(Γ, those columns)
  std::unique_ptr<Small> small_;
};

}  // namespace bandgp
