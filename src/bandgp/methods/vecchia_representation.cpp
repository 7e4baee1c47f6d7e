// SPDX-License-Identifier: Apache-2.0
#include "bandgp/methods/vecchia_representation.hpp"

#include <algorithm>
#include <cmath>

#include "bandgp/kernel/tiles.hpp"

namespace bandgp {

using simd::kPanel;

namespace {

constexpr double kWorkPerSecond = 2e9;

}  // namespace

/// A window moves by one point in about 4m² operations, and the gradient takes as many.
Cost VecchiaRepresentation::cost(const Kernel&, const Observations& points, double) {
  const auto n = static_cast<double>(points.size()),
             m = static_cast<double>(std::min(neighbours_, points.size()));
  return {8 * n * (2 * m + 24), 8 * n * m * m / kWorkPerSecond, static_cast<Index>(m), 0};
}

std::optional<Failure> VecchiaRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                     double q_bound) {
  kernel_ = &kernel;
  points_ = &points;
  const Cost needed = cost(kernel, points, q_bound);
  if (needed.bytes > max_bytes_) return Failure{Failure::Kind::too_large, 0, needed.bytes, needed.seconds};
  envelope_.keep_band(n(), neighbours_);
  return std::nullopt;
}

void VecchiaRepresentation::cross(const Kernel& kernel, double x, Index first, Index count,
                                  double* covariances) const {
  alignas(64) double at[kPanel], tile[kPanel * kPanel];
  std::fill_n(at, kPanel, x);
  // One row of eight is wasted seven times over, which the window's O(m²) does not notice.
  for (Index j = 0; j < count; j += kPanel) {
    const Index some = std::min(kPanel, count - j);
    fill_covariance(kernel, at, points_->time() + first + j, some, tile);
    for (Index c = 0; c < some; ++c) covariances[j + c] = tile[kPanel * c];
  }
}

bool VecchiaRepresentation::slide(Index first, Index end) {
  if (first >= window_first_ + window_.size()) {  // nothing in common: begin anew
    window_.start(std::max<Index>(1, std::min(neighbours_ + 1, n())));
    window_first_ = first;
  }
  for (; window_first_ < first; ++window_first_) window_.pop_front();
  for (Index i = window_first_ + window_.size(); i < end; ++i) {
    cross(*kernel_, points_->time()[i], window_first_, window_.size(), scratch_.data());
    if (!window_.push_back(scratch_.data(), kernel_->variance() + points_->noise()[i])) return false;
  }
  return true;
}

std::optional<Failure> VecchiaRepresentation::factor(RightHandSides b) {
  const Index rows = n(), m = envelope_.bandwidth();
  scratch_.resize(static_cast<std::size_t>(2 * m + 2));
  variance_.resize(static_cast<std::size_t>(rows));
  coefficients_.resize(static_cast<std::size_t>(rows * std::max<Index>(1, m)));
  factor_.shape(envelope_);
  std::fill_n(factor_.column(0, 0), envelope_.doubles(), 0.0);
  window_.start(m + 1);
  window_first_ = 0;
  for (Index i = 0; i < rows; ++i) {
    const Index first = before(i), count = i - first;
    if (!slide(first, i)) return Failure{Failure::Kind::not_positive_definite, i};
    double* coefficient = coefficients_.data() + i * m;
    cross(*kernel_, points_->time()[i], first, count, coefficient);
    window_.solve_lower(coefficient);
    double v = kernel_->variance() + points_->noise()[i];
    for (Index j = 0; j < count; ++j) v -= coefficient[j] * coefficient[j];
    if (!(v > 0)) return Failure{Failure::Kind::not_positive_definite, i};
    window_.solve_upper(coefficient);
    variance_[static_cast<std::size_t>(i)] = v;
    const double weight = 1 / std::sqrt(v);
    for (Index j = 0; j < count; ++j) factor_(i, first + j) = -weight * coefficient[j];
    factor_(i, i) = weight;
    factor_.inverse_diagonal()[i] = std::sqrt(v);
  }
  for (Index i = rows; i < envelope_.padded_size(); ++i) {
    factor_(i, i) = 1;
    factor_.inverse_diagonal()[i] = 1;
  }
  for (Index c = 0; c < b.columns; ++c) apply(b.data + c * b.stride);
  return std::nullopt;
}

/// From the last row to the first, so that it can be done in place.
void VecchiaRepresentation::apply(double* b) const {
  const Index m = envelope_.bandwidth();
  for (Index i = n() - 1; i >= 0; --i) {
    const Index first = before(i);
    double sum = b[i];
    for (Index j = first; j < i; ++j)
      sum -= coefficients_[static_cast<std::size_t>(i * m + j - first)] * b[j];
    b[i] = sum / std::sqrt(variance_[static_cast<std::size_t>(i)]);
  }
}

void VecchiaRepresentation::apply_transposed(double* b) const {
  const Index m = envelope_.bandwidth();
  for (Index i = 0; i < n(); ++i) {  // column i of Fᵀ goes to rows ≤ i, which are done with
    const Index first = before(i);
    const double value = b[i] / std::sqrt(variance_[static_cast<std::size_t>(i)]);
    for (Index j = first; j < i; ++j)
      b[j] -= coefficients_[static_cast<std::size_t>(i * m + j - first)] * value;
    b[i] = value;
  }
}

double VecchiaRepresentation::log_determinant() {
  double sum = 0;
  for (const double v : variance_) sum += std::log(v);
  return sum;
}

void VecchiaRepresentation::finish(RightHandSides b) {
  for (Index c = 0; c < b.columns; ++c) apply_transposed(b.data + c * b.stride);
}

/// With e = r − Br, u = (−bᵢ, 1) and c = A_NN⁻¹r_N on a window:
///   ∂loss = Σᵢ ½(1/v − Σ e²/v²) uᵀ∂A u − Σ (e/v) cᵀ∂A u, the inner sums over the columns:
/// weights on pairs of one window, added up over the windows on a band and met with ∂A once.
void VecchiaRepresentation::gradient(RightHandSides b, const double* noise_slope, std::span<double> out) {
  const Index rows = n(), m = envelope_.bandwidth(), width = m + 1, padded = envelope_.padded_size();
  // A column is Fr:  e/√v;  r itself through the engine.
  std::vector<double> scaled(static_cast<std::size_t>(rows * b.columns));
  AlignedBuffer residuals;
  residuals.reserve(b.columns * padded);
  std::fill_n(residuals.data(), b.columns * padded, 0.0);
  for (Index column = 0; column < b.columns; ++column) {
    std::copy_n(b.data + column * b.stride, rows, scaled.data() + column * rows);
    std::copy_n(b.data + column * b.stride, rows, residuals.data() + column * padded);
  }
  solve_lower(factor_, factor_.all(), {residuals.data(), b.columns, padded});
  finish(b);
  std::vector<double> weights(static_cast<std::size_t>(rows * width)), u(static_cast<std::size_t>(width)),
      c(u.size());
  // weights[i·width + m − (i − j)] for j ≤ i: both halves of a symmetric weight in one.
  window_.start(m + 1);
  window_first_ = 0;
  for (Index i = 0; i < rows; ++i) {
    const Index first = before(i), count = i - first;
    (void)slide(first, i);  // as in factor(), where it worked
    const double v = variance_[static_cast<std::size_t>(i)];
    for (Index j = 0; j < count; ++j)
      u[static_cast<std::size_t>(j)] = -coefficients_[static_cast<std::size_t>(i * m + j)];
    u[static_cast<std::size_t>(count)] = 1;
    // Σ over the columns of −½e²/v and of −(e/√v) A_NN⁻¹r_N.
    double square = 0.5 / v;
    std::fill(c.begin(), c.end(), 0.0);
    for (Index column = 0; column < b.columns; ++column) {
      const double e = scaled[static_cast<std::size_t>(column * rows + i)];
      square -= 0.5 * e * e / v;
      for (Index j = 0; j < count; ++j)
        c[static_cast<std::size_t>(j)] -= e / std::sqrt(v) * residuals.data()[column * padded + first + j];
    }
    window_.solve_lower(c.data());
    window_.solve_upper(c.data());
    for (Index j = 0; j <= count; ++j) {
      double* to = weights.data() + (first + j) * width + m - j;  // entry l of this row is to[l]
      const double uj = u[static_cast<std::size_t>(j)], cj = c[static_cast<std::size_t>(j)];
      const double by_u = 2 * square * uj + cj, by_c = uj;
      for (Index l = 0; l < j; ++l)
        to[l] += by_u * u[static_cast<std::size_t>(l)] + by_c * c[static_cast<std::size_t>(l)];
      to[j] += square * uj * uj + cj * uj;
    }
  }
  const double* x = points_->time();
  const auto& terms = kernel_->terms;
  std::vector<TileSums> sums(terms.size());
  double trace = 0;
  out.back() = 0;
  AlignedBuffer tile;
  tile.reserve(kPanel * (width + kPanel));
  for (Index i0 = 0; i0 < rows; i0 += kPanel) {
    const Index from = before(i0), end = std::min(i0 + kPanel, rows);
    std::fill_n(tile.data(), kPanel * (end - from), 0.0);
    for (Index i = i0; i < end; ++i) {
      const double* row = weights.data() + i * width + m - i;  // entry j is row[j]
      for (Index j = before(i); j < i; ++j) tile.data()[kPanel * (j - from) + i - i0] = row[j];
      trace += row[i];
      out.back() += row[i] * noise_slope[i];
    }
    for (std::size_t t = 0; t < terms.size(); ++t) {
      contract_term(tile_kernels(), terms[t], x + i0, x + from, end - from, tile.data(), sums[t]);
    }
  }
  gradient_from_sums(*kernel_, sums, trace, out);
}

void VecchiaRepresentation::inverse_diagonal(std::span<double> out) {
  const Index m = envelope_.bandwidth();
  std::fill(out.begin(), out.end(), 0.0);
  for (Index i = 0; i < n(); ++i) {
    const double precision = 1 / variance_[static_cast<std::size_t>(i)];
    out[static_cast<std::size_t>(i)] += precision;
    for (Index j = before(i); j < i; ++j) {
      const double b = coefficients_[static_cast<std::size_t>(i * m + j - before(i))];
      out[static_cast<std::size_t>(j)] += precision * b * b;
    }
  }
}

double VecchiaRepresentation::condition() {
  const auto [low, high] = std::ranges::minmax(variance_);
  return high / low;
}

/// Given the m nearest observations on both sides: they are consecutive, and move on with x*.
std::optional<Failure> VecchiaRepresentation::predict(std::span<const double> x, unsigned terms,
                                                      RightHandSides solved, double* projection,
                                                      double* variance) {
  const auto count = static_cast<Index>(x.size());
  const Index padded = envelope_.padded_size(), most = std::min(std::max<Index>(1, neighbours_), n());
  const Kernel kernel = kernel_->subset(terms);
  // The columns themselves: A(A⁻¹b) = F⁻¹F⁻ᵀ(A⁻¹b).
  AlignedBuffer columns;
  columns.reserve(solved.columns * padded);
  std::fill_n(columns.data(), solved.columns * padded, 0.0);
  for (Index c = 0; c < solved.columns; ++c)
    std::copy_n(solved.data + c * solved.stride, n(), columns.data() + c * padded);
  solve_upper(factor_, factor_.all(), {columns.data(), solved.columns, padded});
  solve_lower(factor_, factor_.all(), {columns.data(), solved.columns, padded});
  window_.start(most + 1);
  window_first_ = 0;
  scratch_.resize(static_cast<std::size_t>(2 * most + 2));
  std::vector<double> weights(static_cast<std::size_t>(most));
  const double* time = points_->time();
  Index first = 0;
  for (Index t = 0; t < count; ++t) {
    const double at = x[static_cast<std::size_t>(t)];
    while (first + most < n() && time[first + most] - at < at - time[first]) ++first;
    if (!slide(first, first + most)) return Failure{Failure::Kind::not_positive_definite, first};
    cross(kernel, at, first, most, weights.data());
    window_.solve_lower(weights.data());
    if (variance != nullptr) {
      double v = kernel.variance();
      for (const double w : weights) v -= w * w;
      variance[t] = std::max(0.0, v);
    }
    window_.solve_upper(weights.data());
    for (Index c = 0; c < solved.columns; ++c) {
      double sum = 0;
      for (Index j = 0; j < most; ++j)
        sum += weights[static_cast<std::size_t>(j)] * columns.data()[c * padded + first + j];
      projection[c * count + t] = sum;
    }
  }
  return std::nullopt;
}

void VecchiaRepresentation::covariance(std::span<const double> x, double* out) {
  const std::size_t count = x.size();
  std::vector<double> nothing(count), variance(count),
      column(static_cast<std::size_t>(envelope_.padded_size()));
  (void)predict(x, kAllTerms, {column.data(), 1, envelope_.padded_size()}, nothing.data(), variance.data());
  std::fill_n(out, count * count, 0.0);
  for (std::size_t t = 0; t < count; ++t) out[t * count + t] = variance[t];
}

}  // namespace bandgp
