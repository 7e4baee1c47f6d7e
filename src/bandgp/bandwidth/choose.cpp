// SPDX-License-Identifier: Apache-2.0
#include "bandgp/bandwidth/choose.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bandgp {
namespace {

/// What lies beyond `far` may use this share of the target, through its bound; the rest is summed point by
/// point.
constexpr double kFarShare = 1.0 / 64;
/// Rows looked at before all of them are: they guess the answer, the pass over all rows proves it.
constexpr Index kSampleRows = 64;

template <class Body>  // body(i, j): sampled row i and every j ≠ i with |xᵢ − xⱼ| ≤ far
void for_sampled_pairs(const WeightedPoints& points, double far, Body body) {
  const Index rows = std::min(points.n, kSampleRows);
  for (Index s = 0; s < rows; ++s) {
    const Index i = rows == points.n ? s : (points.n - 1) * s / (rows - 1);
    for (Index j = i + 1; j < points.n && points.x[j] - points.x[i] <= far; ++j) body(s, i, j);
    for (Index j = i - 1; j >= 0 && points.x[i] - points.x[j] <= far; --j) body(s, i, j);
  }
}

/// The distance cut, widened rung by rung.
class ReachCut final : public RowCut {
 public:
  ReachCut(const WeightedPoints& points, double far, std::size_t rung)
      : points_(points), far_(far), rung_(rung) {}
  void limits(Index i, double& first, double& last) override {
    const double* x = points_.x;
    const double r = reach();
    while (x[i] - x[first_] > r) ++first_;
    while (first_ > 0 && x[i] - x[first_ - 1] <= r) --first_;
    last_ = std::max(last_, i);
    while (last_ + 1 < points_.n && x[last_ + 1] - x[i] <= r) ++last_;
    while (last_ > i && x[last_] - x[i] > r) --last_;
    first = static_cast<double>(first_);
    last = static_cast<double>(last_);
  }
  bool widen() override { return rung_ > 0 && rung_-- > 0; }
  double reach() const { return rung_ == 0 ? far_ : far_ * std::exp(-kRung * static_cast<double>(rung_)); }

  static constexpr double kRung = 0.005;

 private:
  const WeightedPoints& points_;
  double far_;
  std::size_t rung_;
  Index first_ = 0, last_ = 0;
};

/// The index band, widened by one.
class BandCut final : public RowCut {
 public:
  BandCut(Index n, Index k, Index widest) : n_(n), k_(k), widest_(widest) {}
  void limits(Index i, double& first, double& last) override {
    first = static_cast<double>(std::max<Index>(0, i - k_));
    last = static_cast<double>(std::min(n_ - 1, i + k_));
  }
  bool widen() override { return k_ < widest_ && ++k_ > 0; }
  Index bandwidth() const { return k_; }

 private:
  Index n_, k_, widest_;
};

/// A given envelope.
class EnvelopeCut final : public RowCut {
 public:
  explicit EnvelopeCut(const Envelope& envelope) : envelope_(envelope) {}
  void limits(Index i, double& first, double& last) override {
    last_ = std::max(last_, i);
    while (last_ + 1 < envelope_.size() && envelope_.first(last_ + 1) <= i) ++last_;
    first = static_cast<double>(envelope_.first(i));
    last = static_cast<double>(last_);
  }

 private:
  const Envelope& envelope_;
  Index last_ = 0;
};

}  // namespace

Choice choose_reach(const Kernel& kernel, const WeightedPoints& points, const TailBound& tail, double target,
                    Envelope& envelope) {
  const std::span<const double> x(points.x, static_cast<std::size_t>(points.n));
  const double far = tail.reach_for(kFarShare * target);
  const UpperBound beyond = tail(far);
  // Candidates far·e^{−0.005 m}: sampled rows tell how much each would leave out.
  constexpr std::size_t kRungs = 1400;
  std::array<double, kRungs + 1> worst{};  // worst[m]: largest sampled row sum between rung m and far
  {
    std::array<double, kRungs + 1> row{};
    Index current = 0;
    const auto finish_row = [&] {
      double sum = 0;
      for (std::size_t m = 1; m <= kRungs; ++m) worst[m] = std::max(worst[m], sum += row[m]);
      row.fill(0);
    };
    for_sampled_pairs(points, far, [&](Index s, Index i, Index j) {
      if (s != current) finish_row();
      current = s;
      const double lag = std::abs(points.x[i] - points.x[j]);
      const double rung =
          std::ceil(std::log(far / lag) / ReachCut::kRung);  // left out by every rung from here on
      const auto m = static_cast<std::size_t>(std::clamp(rung, 1.0, static_cast<double>(kRungs)));
      row[m] += points.weight[i] * points.weight[j] * kernel(lag);
    });
    finish_row();
  }
  std::size_t m = kRungs;
  while (m > 0 && !(worst[m] + beyond.value() <= target)) --m;
  ReachCut cut(points, far, m);
  const UpperBound sum = largest_row_sum(kernel, points, cut, far, beyond, target * (1 - 1e-9));
  envelope.keep_reach(x, cut.reach());
  return {cut.reach(), envelope.bandwidth(), sum};
}

Choice choose_band(const Kernel& kernel, const WeightedPoints& points, const TailBound& tail, double target,
                   Envelope& envelope, std::vector<double>& scratch) {
  const std::span<const double> x(points.x, static_cast<std::size_t>(points.n));
  const double far = tail.reach_for(kFarShare * target);
  const UpperBound beyond = tail(far);
  envelope.keep_reach(x, far);
  const Index widest = envelope.bandwidth();  // |i−j| > widest implies farther than `far`
  const std::size_t size = static_cast<std::size_t>(widest) + 2;
  scratch.assign(2 * size, 0.0);
  const std::span<double> worst(scratch.data(),
                                size);  // worst[k]: largest sampled row sum of what k leaves out
  const std::span<double> row(scratch.data() + size, size);
  Index current = 0;
  const auto finish_row = [&] {
    double sum = 0;
    for (std::size_t k = worst.size() - 1; k-- > 0;) worst[k] = std::max(worst[k], sum += row[k + 1]);
    std::fill(row.begin(), row.end(), 0.0);
  };
  for_sampled_pairs(points, far, [&](Index s, Index i, Index j) {
    if (s != current) finish_row();
    current = s;
    const double lag = std::abs(points.x[i] - points.x[j]);
    row[static_cast<std::size_t>(std::abs(i - j))] += points.weight[i] * points.weight[j] * kernel(lag);
  });
  finish_row();
  Index k = widest;
  while (k > 0 && worst[static_cast<std::size_t>(k) - 1] + beyond.value() < target) --k;
  BandCut cut(points.n, k, widest);
  // 1e-9 below the target leaves room for the rounding outward; it also makes "at most" "less than".
  const UpperBound sum = largest_row_sum(kernel, points, cut, far, beyond, target * (1 - 1e-9));
  envelope.keep_band(points.n, cut.bandwidth());
  return {0, envelope.bandwidth(), sum};
}

UpperBound certify(const Kernel& kernel, const WeightedPoints& points, const TailBound& tail,
                   const Envelope& envelope, double negligible) {
  if (envelope.first(envelope.size() - 1) == 0) return UpperBound::exactly(0);  // nothing is left out
  const double far = tail.reach_for(negligible);
  EnvelopeCut cut(envelope);
  return largest_row_sum(kernel, points, cut, far, tail(far), 1.0);
}

double rho_for_tolerance(double nats, double q, Index n) {
  const double x =
      2 * nats / (q + static_cast<double>(n)) * (1 - 1e-12);  // the margin covers these roundings
  return x / (1 + x);
}

}  // namespace bandgp
