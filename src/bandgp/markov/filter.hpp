// SPDX-License-Identifier: Apache-2.0
// A covariance A = K + D whose K is a sum of Markov terms, held by the filter that whitens it.  [math.md §7]
// The filter's innovations are L⁻¹b for the Cholesky factor L of A, up to their scale: everything that a
// factored matrix can do is done in O(n), and nothing is left out of A.
#pragma once
#include <algorithm>
#include <ranges>
#include <span>
#include <vector>

#include "bandgp/base/aligned.hpp"
#include "bandgp/base/right_hand_sides.hpp"
#include "bandgp/base/worker.hpp"
#include "bandgp/markov/filter_kernels.hpp"

namespace bandgp::markov {

class Filter {
 public:
  /// With two threads the second one prepares steps and means while the first filters; more are not used.
  /// Results are the same bit for bit.
  explicit Filter(Index threads) : worker_(threads > 1) {}

  /// The terms and the increasing times of the points, which must stay where they are.
  void prepare(const std::vector<StateTerm>& terms, const double* time, Index n);

  Index states() const { return layout_.states; }
  const StateLayout& layout() const { return layout_; }
  /// Bytes that n points of N states take, without the columns.
  static double bytes(Index n, Index states);
  /// Doubles that a reduced column carries behind its n values, rounded up to a multiple of 8: the means at
  /// the starts of blocks.  They follow every linear combination of columns and count in no product.
  Index carried_size() const { return blocks() * states(); }

  /// Filters with these noise variances and reduces the columns in place: bᵢᵀA⁻¹bⱼ = reducedᵢ · reducedⱼ over
  /// their first n entries.  Returns the first point whose pivot is not positive, or −1.
  [[nodiscard]] Index factor(const double* noise, RightHandSides b);
  /// The same for further columns, after factor().
  void reduce(RightHandSides b);
  double log_determinant() const;
  /// Ratio of the largest pivot to the smallest.
  double condition() const;

  /// Reduced columns → A⁻¹b.
  void solve(RightHandSides b);
  /// The same, keeping what predict() needs of these columns.
  void solve_and_keep(RightHandSides b);
  /// Reduced columns → A⁻¹b, and ½ tr[(A⁻¹ − Σ A⁻¹bbᵀA⁻¹)∂A] for the parameters of every term, in the order
  /// of prepare(), and for ∂A = diag(noise_slope), which is returned.
  double gradient(RightHandSides b, const double* noise_slope, std::span<TermSlopes> out);
  void inverse_diagonal(std::span<double> out);

  /// At increasing x, after solve_and_keep(): projection[c·m + t] = k*ᵀA⁻¹b_c and, unless null, the variance
  /// k(0) − k*ᵀA⁻¹k*, k* and k(0) those of the terms that are chosen, one flag a term.
  void predict(std::span<const double> x, const std::vector<bool>& chosen, double* projection,
               double* variance);
  /// K** − K*f A⁻¹ Kf* of all terms at increasing x, row-major.
  void covariance(std::span<const double> x, double* out) const;

 private:
  Index blocks() const { return (n_ + kBlock - 1) / kBlock; }
  /// Blocks are handed to the other thread in groups.
  Index groups() const { return (blocks() + group_ - 1) / group_; }
  auto blocks_of(Index group) const {
    return std::views::iota(group * group_, std::min(blocks(), (group + 1) * group_));
  }
  Index block_begin(Index k) const { return k * kBlock; }
  Block block(Index k, const double* steps);
  double* carried(RightHandSides b, Index column, Index k) const;
  double* step_buffer(Index slot) { return steps_.data() + slot * step_doubles(); }
  Index step_doubles() const { return fields_ * kBlock; }
  void make_steps(const double* gaps, Index count, double* out) const;
  void make_block_steps(Index k, double* out) const;
  // What the worker is asked for: two words of the caller's, so that a task takes no memory of its own.
  void make_group_steps(Index group);
  void reduce_group(Index group);
  void inform_group(Index group);
  double* held_steps(Index k);
  void reduce_block(Index k, const double* steps, RightHandSides b);
  void inform_block(Index k);
  void contract_block(Index k, double& by_noise);
  void make_information();
  std::vector<double> selection(const std::vector<bool>& chosen) const;

  std::vector<StateTerm> terms_;
  StateLayout layout_;
  const FilterKernels::Loops* loops_ = nullptr;
  std::vector<const StateTerm*> places_;  // the term in each place of the layout
  Index fields_ = 0;                      // of all terms' steps
  const double* time_ = nullptr;
  Index n_ = 0;
  const double* noise_ = nullptr;
  AlignedBuffer gaps_, gain_, root_, kept_;
  AlignedBuffer steps_;     // of three groups of blocks
  AlignedBuffer filtered_;  // covariance of the states, then means of the columns
  Worker worker_;
  Index group_ = 1;                // blocks
  RightHandSides task_columns_{};  // that factor() or gradient() is about
  // The gradient under way.
  AlignedBuffer information_block_, mean_block_, r_;
  const double* noise_slope_ = nullptr;
  std::vector<BlockColumn> column_blocks_;
  std::vector<TermSlopes> slopes_;
  // For predictions.
  Index kept_columns_ = 0;
  AlignedBuffer kept_means_, kept_r_, information_, diagonal_;
  bool has_information_ = false;
};

}  // namespace bandgp::markov
