// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "bandgp/band/cholesky.hpp"
#include "bandgp/base/normal_at.hpp"
#include "bandgp/base/oscillator.hpp"
#include "bandgp/gp/band_representation.hpp"
#include "bandgp/kernel/harmonics.hpp"
#include "bandgp/kernel/tiles.hpp"
#include "bandgp/markov/filter_kernels.hpp"

namespace bandgp {
namespace {

/// Independent streams of one seed; none is one of Posterior::functions, whose draws must not resemble data
/// of the same seed.
constexpr std::uint64_t kTimes = 1, kNoise = 2, kBand = 3, kFirstTerm = 16;
std::uint64_t stream(std::uint64_t seed, std::uint64_t number) {
  return (seed ^ 0x5851f42d4c957f2dU) * 0xd1342543de82ef95U + number;
}

/// Adds a draw of variance·exp(−τ²/2ℓ²) at increasing x.
class SmoothedNoise {
 public:
  SmoothedNoise(const Term& term, std::uint64_t stream)
      : lengthscale_(term.lengthscale),
        spacing_(kStep * term.lengthscale),
        scale_(std::sqrt(term.variance * kStep * std::sqrt(2 / std::numbers::pi))),
        stream_(stream) {
    for (int k = 0; k <= kSide; ++k) falling_[static_cast<std::size_t>(k)] = std::exp(-kStep * kStep * k * k);
  }

  void add(std::span<const double> x, std::span<double> y) {
    double origin = x.front(), previous = x.front();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] - previous > kApart * lengthscale_) {  // independent to e^{−128}: a grid of its own
        origin = x[i];
        first_ = drawn_;
      }
      previous = x[i];
      y[i] += scale_ * at(x[i] - origin);
    }
  }

 private:
  static constexpr double kStep = 0.4;  // h/ℓ: aliasing 2 e^{−π²/2h²} = 8e-14
  static constexpr int kSide = 16;  // nodes on each side: 6.4 ℓ, where the smoothing has fallen to 1e-18
  static constexpr double kApart = 16;
  static constexpr std::size_t kRing = 64;

  /// Σ_j exp(−(x − jh)²/ℓ²) z_j with z_j the noise of node j of this grid.
  double at(double x) {
    const double nearest = std::round(x / spacing_);
    const double d = std::fma(-nearest, spacing_, x) / lengthscale_;  // exact, however far from the origin
    const std::int64_t centre = first_ + static_cast<std::int64_t>(nearest) + kSide;
    // Each node is drawn once and kept while a window may need it.
    drawn_ = std::max(drawn_, centre - kSide);
    for (; drawn_ <= centre + kSide; ++drawn_) ring_[slot(drawn_)] = normal_at(stream_, drawn_);
    // exp(−(d − kh)²) = e^{−d²} e^{−k²h²} (e^{2dh})^k, h and d in units of ℓ
    const double up = std::exp(2 * kStep * d), down = 1 / up;
    double sum = ring_[slot(centre)], to_right = 1, to_left = 1;
    for (int k = 1; k <= kSide; ++k) {
      to_right *= up;
      to_left *= down;
      sum += falling_[static_cast<std::size_t>(k)] *
             (to_right * ring_[slot(centre + k)] + to_left * ring_[slot(centre - k)]);
    }
    return std::exp(-d * d) * sum;
  }
  static std::size_t slot(std::int64_t node) { return static_cast<std::size_t>(node) % kRing; }

  double lengthscale_, spacing_, scale_;
  std::uint64_t stream_;
  std::array<double, kSide + 1> falling_{};
  std::array<double, kRing> ring_{};
  std::int64_t first_ = 0, drawn_ = 0;  // node 0 of this grid; nodes before this one are drawn
};

/// Matérn of order p − ½ as (d/ds + 1)^p f = white noise in s = λt.  With the states xᵢ = (d/ds + 1)ⁱ f the
/// transition over a is e^{−a} times a Toeplitz triangle of aᵏ/k!, and the variance it adds is a table of
/// incomplete gamma functions, Qᵢⱼ = q ∫₀ᵃ e^{−2s} s^{k+l}/(k! l!) ds with k = p−1−i, l = p−1−j: no
/// difference is ever formed, so steps as short as they come stay exact.
template <int p>
class MarkovProcess {
 public:
  MarkovProcess(const Term& term, std::uint64_t stream)
      : rate_(markov::rate_of(p, term.lengthscale)), scale_(std::sqrt(term.variance)), stream_(stream) {}

  void add(std::span<const double> x, std::span<double> y) {
    State state{};
    step(kForgotten);  // from nowhere: the stationary distribution
    double last = kForgotten;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double a = i == 0 ? kForgotten : std::min(kForgotten, rate_ * (x[i] - x[i - 1]));
      if (a != last) step(last = a);
      if (a > 0) state = moved(state, static_cast<std::int64_t>(i));
      y[i] += scale_ * state.x[0];
    }
  }

 private:
  static constexpr auto kStates = static_cast<std::size_t>(p);
  struct State {
    double x[kStates] = {};
  };
  static constexpr double kForgotten = 800;  // e^{−800} is 0

  static double factorial(int k) { return k < 2 ? 1 : k * factorial(k - 1); }

  /// ∫₀ᵃ s^m e^{−2s} ds, to a few units in the last place.
  static double moment(int m, double a) {
    if (a > 3) {
      double value = 0.5 * -std::expm1(-2 * a), power = 1;
      for (int k = 1; k <= m; ++k) value = 0.5 * (k * value - (power *= a) * std::exp(-2 * a));
      return value;
    }
    double term = std::pow(a, m + 1) / (m + 1), sum = term;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= 2 * a / (m + 1 + k);
    return std::exp(-2 * a) * sum;
  }

  void step(double a) {
    const double decay = std::exp(-a), q = std::pow(2.0, 2 * p - 1) * factorial(p - 1) * factorial(p - 1) /
                                           factorial(2 * p - 2);  // k(0) = 1
    for (int k = 0; k < p; ++k) transition_[k] = decay > 0 ? decay * std::pow(a, k) / factorial(k) : 0;
    for (int i = 0; i < p; ++i) {  // Q, and its Cholesky factor in place
      for (int j = 0; j <= i; ++j) {
        const int k = p - 1 - i, l = p - 1 - j;
        double s = q * moment(k + l, a) / (factorial(k) * factorial(l));
        for (int c = 0; c < j; ++c) s -= root(i, c) * root(j, c);
        root(i, j) = i == j ? std::sqrt(std::max(0.0, s)) : root(j, j) > 0 ? s / root(j, j) : 0;
      }
    }
  }

  State moved(const State& state, std::int64_t place) {
    State next{}, z{};
    for (int j = 0; j < p; ++j) z.x[j] = normal_at(stream_, p * place + j);
    for (int i = 0; i < p; ++i) {
      double sum = 0;
      for (int j = i; j < p; ++j) sum += transition_[j - i] * state.x[j];
      for (int j = 0; j <= i; ++j) sum += root(i, j) * z.x[j];
      next.x[i] = sum;
    }
    return next;
  }
  double& root(int i, int j) { return root_[p * i + j]; }

  double rate_, scale_;
  std::uint64_t stream_;
  double transition_[kStates] = {};
  double root_[kStates * kStates] = {};
};

/// Adds a draw of a strictly periodic term: Σ_k √(σ²c_k)(z cos kωx + z′ sin kωx), with all harmonics that
/// double precision can show.
void add_harmonics(const Term& term, std::span<const double> x, std::uint64_t stream, std::span<double> y) {
  const Harmonics all = harmonics(term.smoothness, 1e-17);
  std::vector<double> cosine, sine;
  for (std::size_t k = 0; k < all.coefficient.size(); ++k) {
    const double deviation = std::sqrt(term.variance * all.coefficient[k]);
    cosine.push_back(deviation * normal_at(stream, 2 * static_cast<std::int64_t>(k)));
    sine.push_back(deviation * normal_at(stream, 2 * static_cast<std::int64_t>(k) + 1));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double turns = std::fma(-std::round(x[i] / term.period), term.period, x[i]) / term.period;
    const double c = std::cos(2 * std::numbers::pi * turns), s = std::sin(2 * std::numbers::pi * turns);
    double cos = 1, sin = 0;
    for (std::size_t k = 0; k < cosine.size(); ++k) {
      y[i] += cosine[k] * cos + sine[k] * sin;
      const double next = cos * c - sin * s;
      sin = sin * c + cos * s;
      cos = next;
    }
  }
}

/// Adds a draw of a damped oscillator: its curve and its slope by the steps of the filter.
void add_oscillator(const Term& term, std::uint64_t stream, std::span<const double> x, std::span<double> y) {
  const markov::StateTerm oscillator{2, 1, 0, markov::StateKind::oscillator, 1 / term.period, term.quality};
  constexpr Index kBlock = markov::kBlock;
  std::vector<double> gaps(static_cast<std::size_t>(kBlock));
  AlignedBuffer fields;
  fields.reserve(markov::step_fields(markov::StateKind::oscillator, oscillator.states) * kBlock);
  double state[2] = {};
  const Index n = std::ssize(x);
  for (Index begin = 0; begin < n; begin += kBlock) {
    const Index count = std::min(kBlock, n - begin);
    std::ranges::fill(gaps, 0.0);
    for (Index i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(begin + i);
      // The start is a step from nowhere.
      gaps[static_cast<std::size_t>(i)] = k == 0 ? std::numeric_limits<double>::infinity() : x[k] - x[k - 1];
    }
    markov::filter_kernels().steps(oscillator)(oscillator, gaps.data(), round_up(count, 8), fields.data());
    for (Index i = 0; i < count; ++i) {
      const auto field = [&](Index f) { return fields.data()[f * kBlock + i]; };
      const double root = std::sqrt(std::max(0.0, field(4))), below = root > 0 ? field(5) / root : 0,
                   rest = std::sqrt(std::max(0.0, field(6) - below * below));
      const double z0 = normal_at(stream, 2 * (begin + i)), z1 = normal_at(stream, 2 * (begin + i) + 1);
      const double curve = field(0) * state[0] + field(1) * state[1] + root * z0,
                   slope = field(2) * state[0] + field(3) * state[1] + below * z0 + rest * z1;
      state[0] = curve;
      state[1] = slope;
      y[static_cast<std::size_t>(begin + i)] += std::sqrt(term.variance) * curve;
    }
  }
}

/// Adds a draw of a term without a factor; false where it has no form for that.
bool add_plain(const Term& term, std::uint64_t stream, std::span<const double> x, std::span<double> y) {
  if (has_basis(term))
    SmoothedNoise(term, stream).add(x, y);
  else if (matern_states(term) == 1)
    MarkovProcess<1>(term, stream).add(x, y);
  else if (matern_states(term) == 2)
    MarkovProcess<2>(term, stream).add(x, y);
  else if (matern_states(term) == 3)
    MarkovProcess<3>(term, stream).add(x, y);
  else if (std::holds_alternative<Sho>(term.shape))
    add_oscillator(term, stream, x, y);
  else if (is_strictly_periodic(term))
    add_harmonics(term, x, stream, y);
  else
    return false;
  return true;
}

/// Adds a draw of a term times cos 2πτ·turns, of so much of the term's variance: with two draws f, g of what
/// it has without a factor, f cos + g sin.
void add_turning(const Term& term, double share, double turns, std::uint64_t stream,
                 std::span<const double> x, std::span<double> y) {
  Term plain = term;
  plain.factor = NoFactor{};
  plain.variance *= share;
  constexpr std::uint64_t kSecond = 0x2545f4914f6cdd1dU;
  const bool turning = turns > 0;
  std::vector<double> part(x.size());
  for (std::uint64_t k = 0; k < (turning ? 2U : 1U); ++k) {
    std::ranges::fill(part, 0.0);
    (void)add_plain(plain, stream + kSecond * k, x, part);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double product = x[i] * turns, rest = std::fma(x[i], turns, -product);
      const Turn<double> angle = turn((product - std::nearbyint(product)) + rest);
      y[i] += part[i] * (k == 0 ? angle.cos : angle.sin);
    }
  }
}

/// Adds a draw of any term but compactly supported ones; false for these.
bool add_term(const Term& term, std::uint64_t stream, std::span<const double> x, std::span<double> y) {
  if (!term.has_factor()) return add_plain(term, stream, x, y);
  if (!std::holds_alternative<PeriodicFactor>(term.factor)) {
    add_turning(term, 1, 1 / term.period, stream, x, y);
    return true;
  }
  constexpr double kNegligible = 1e-14;
  constexpr std::uint64_t kHarmonic = 0x9e3779b97f4a7c15U;
  const Harmonics kept = harmonics(term.smoothness, kNegligible);
  for (std::size_t k = 0; k < kept.coefficient.size(); ++k)
    add_turning(term, kept.coefficient[k], static_cast<double>(k) / term.period, stream + kHarmonic * (k + 1),
                x, y);
  return true;
}

/// Adds Lz with LLᵀ = K + noise·I at strictly increasing x: a band where the support is compact, else all of
/// the matrix.
void add_banded(const Kernel& kernel, double noise, std::span<const double> x, std::uint64_t stream,
                double max_bytes, std::span<double> y) {
  const auto n = static_cast<Index>(x.size());
  Envelope envelope;
  envelope.keep_reach(x, kernel.support());
  const double bytes = 8.0 * static_cast<double>(envelope.doubles());
  if (bytes > (max_bytes > 0 ? max_bytes : default_max_bytes()))
    throw std::runtime_error(fmt::format(
        "a draw with {} neighbours a side on {} points needs a band of {:.1f} GB: fewer points, or a shorter "
        "length-scale",
        envelope.bandwidth(), n, bytes / 1e9));
  AlignedBuffer time;
  time.reserve(envelope.padded_size());
  std::copy(x.begin(), x.end(), time.data());
  std::fill(time.data() + n, time.data() + envelope.padded_size(), x.back());
  PanelBand matrix;
  matrix.shape(envelope);
  for (Index p = 0; p < envelope.panels(); ++p) {
    const Index i0 = simd::kPanel * p, from = envelope.panel_first()[p];
    fill_covariance(kernel, time.data() + i0, time.data() + from, i0 + simd::kPanel - from,
                    matrix.column(p, from));
    tile_kernels().clip(matrix.column(p, from), from, i0 + simd::kPanel - from, envelope.row_first() + i0);
    for (Index i = i0; i < i0 + simd::kPanel; ++i) matrix(i, i) = i < n ? kernel.variance() + noise : 1.0;
  }
  if (const auto bad = factorize(matrix, matrix.all()))
    throw std::runtime_error(fmt::format(
        "the covariance is singular in double precision (point {}): a little noise is needed", bad->row + 1));
  std::vector<double> z(x.size());
  for (Index i = 0; i < n; ++i) z[static_cast<std::size_t>(i)] = normal_at(stream, i);
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = envelope.first(i); j < i; ++j) sum += matrix(i, j) * z[static_cast<std::size_t>(j)];
    y[static_cast<std::size_t>(i)] += sum + z[static_cast<std::size_t>(i)] / matrix.inverse_diagonal()[i];
  }
}

}  // namespace

std::vector<double> simulate(const Kernel& kernel, double noise, std::span<const double> times,
                             std::uint64_t seed, double max_bytes) {
  require_valid(kernel);
  if (!std::isfinite(noise) || noise < 0)
    throw std::invalid_argument(fmt::format("noise is a variance and must not be negative: {}", noise));
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!std::isfinite(times[i])) throw std::invalid_argument(fmt::format("time {} is {}", i + 1, times[i]));
  }
  if (!std::ranges::is_sorted(times))
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times[i]; });
  std::vector<double> x;  // distinct times, from 0 on
  x.reserve(times.size());
  for (const std::size_t i : order) {
    const double t = times[i] - times[order.front()];
    if (x.empty() || t > x.back()) x.push_back(t);
  }
  if (x.empty()) return {};

  std::vector<double> curve(x.size());
  Kernel banded;
  for (std::size_t t = 0; t < kernel.terms.size(); ++t) {
    const Term& term = kernel.terms[t];
    const std::uint64_t own = stream(seed, kFirstTerm + t);
    if (!add_term(term, own, x, curve)) banded.terms.push_back(term);
  }
  // The band is drawn together with its noise, which keeps it positive definite; observations of one time
  // need noise of their own, and where there are such the band goes without.
  const bool ties = x.size() < times.size();
  const double in_band = banded.terms.empty() || ties ? 0 : noise;
  if (!banded.terms.empty()) add_banded(banded, in_band, x, stream(seed, kBand), max_bytes, curve);

  std::vector<double> values(times.size());
  std::size_t distinct = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (times[order[k]] - times[order.front()] > x[distinct]) ++distinct;
    values[order[k]] = curve[distinct] + std::sqrt(noise - in_band) *
                                             normal_at(stream(seed, kNoise), static_cast<std::int64_t>(k));
  }
  return values;
}

std::vector<double> simulate_times(Index n, double gap, double start, bool irregular, std::uint64_t seed) {
  std::vector<double> times(static_cast<std::size_t>(n));
  double passed = 0;
  for (Index i = 0; i < n; ++i) {
    times[static_cast<std::size_t>(i)] = irregular ? start + passed : start + static_cast<double>(i) * gap;
    // erfc of a normal number is uniform between 0 and 2.
    const double uniform =
        irregular ? 0.5 * std::erfc(normal_at(stream(seed, kTimes), i) / std::numbers::sqrt2) : 0;
    passed += gap * (0.1 + 1.8 * uniform);
  }
  return times;
}

}  // namespace bandgp
