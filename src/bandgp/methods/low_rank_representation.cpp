// SPDX-License-Identifier: Apache-2.0
#include "bandgp/methods/low_rank_representation.hpp"

#include <algorithm>
#include <cmath>

#include "bandgp/base/normal_at.hpp"
#include "bandgp/kernel/tiles.hpp"
#include "bandgp/methods/dense_covariance.hpp"
#include "bandgp/methods/lapack.hpp"
#include "bandgp/simd/panel.hpp"

namespace bandgp {

using lapack::Form;
using lapack::Side;
using simd::kPanel;

namespace {

constexpr double kWorkPerSecond = 1e10;
constexpr Index kTests = 512;

/// K_mm is singular to rounding once the inputs are close beside ℓ.  This much on its diagonal, relative to
/// k(0), is what a Cholesky of m rows needs; Q stays below K, so vfe stays a bound.
double jitter(Index m) { return 4 * 0x1p-53 * static_cast<double>(m * m); }

}  // namespace

LowRankRepresentation::LowRankRepresentation(Kind kind, Index inducing, double max_bytes,
                                             std::vector<double> inputs)
    : kind_(kind), wanted_(inducing), max_bytes_(max_bytes), inputs_(std::move(inputs)) {}

void LowRankRepresentation::place_inputs() {
  if (!inputs_.empty()) return;
  const Index count = std::min(wanted_, n());
  for (Index j = 0; j < count; ++j) {  // every point with m = n, else the middles of m equal shares
    const double at =
        (static_cast<double>(j) + 0.5) * static_cast<double>(n()) / static_cast<double>(count) - 0.5;
    const auto low = static_cast<Index>(at);
    const Index high = std::min(low + 1, n() - 1);
    const double part = at - static_cast<double>(low);
    inputs_.push_back((1 - part) * points_->time()[low] + part * points_->time()[high]);
  }
}

Cost LowRankRepresentation::cost(const Kernel&, const Observations& points, double) {
  const auto n = static_cast<double>(points.size());
  const auto m = static_cast<double>(inputs_.empty() ? std::min(wanted_, points.size()) : this->m());
  return {8 * (2 * n * m + 4 * m * m), 6 * n * m * m / kWorkPerSecond, static_cast<Index>(m), 0};
}

std::optional<Failure> LowRankRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                     double q_bound) {
  kernel_ = &kernel;
  points_ = &points;
  const Cost needed = cost(kernel, points, q_bound);
  if (needed.bytes > max_bytes_) return Failure{Failure::Kind::too_large, 0, needed.bytes, needed.seconds};
  place_inputs();
  return std::nullopt;
}

std::optional<Failure> LowRankRepresentation::factor(RightHandSides b) {
  const lapack::OneThread scope;
  const Index rows = n(), count = m();
  const double prior = kernel_->variance();
  inducing_.reserve(count * count);
  fill_dense(*kernel_, inputs_.data(), count, inputs_.data(), count, inducing_.data());
  for (Index j = 0; j < count; ++j) inducing_.data()[j * (count + 1)] = prior * (1 + jitter(count));
  Index bad = lapack::cholesky(count, inducing_.data());
  if (bad >= 0) return Failure{Failure::Kind::not_positive_definite, bad};
  basis_.reserve(rows * count);
  scaled_.reserve(rows * count);
  fill_dense(*kernel_, points_->time(), rows, inputs_.data(), count, basis_.data());
  lapack::solve_triangular(Side::right, Form::transposed, rows, count, inducing_.data(), count, basis_.data(),
                           rows);
  missing_.assign(static_cast<std::size_t>(rows), prior);
  for (Index j = 0; j < count; ++j) {
    const double* column = basis_.data() + j * rows;
    for (Index i = 0; i < rows; ++i) missing_[static_cast<std::size_t>(i)] -= column[i] * column[i];
  }
  lambda_.resize(static_cast<std::size_t>(rows));
  extra_ = 0;
  for (Index i = 0; i < rows; ++i) {
    double& left = missing_[static_cast<std::size_t>(i)];
    left = std::max(0.0, left);
    const double d = points_->noise()[i];
    lambda_[static_cast<std::size_t>(i)] = kind_ == Kind::fitc ? d + left : d;
    if (kind_ == Kind::vfe) extra_ += 0.5 * left / d;
  }
  for (Index j = 0; j < count; ++j) {
    for (Index i = 0; i < rows; ++i)
      scaled_.data()[j * rows + i] =
          basis_.data()[j * rows + i] / std::sqrt(lambda_[static_cast<std::size_t>(i)]);
  }
  matrix_.reserve(count * count);
  lapack::multiply_by_transposed(Form::transposed, count, rows, 1, scaled_.data(), rows, 0, matrix_.data(),
                                 count);
  for (Index j = 0; j < count; ++j) matrix_.data()[j * (count + 1)] += 1;
  bad = lapack::cholesky(count, matrix_.data());
  if (bad >= 0) return Failure{Failure::Kind::not_positive_definite, bad};
  // (Λ^{−½}b, 0) → (Λ^{−½}(b − Φw), w), w = M⁻¹ΦᵀΛ⁻¹b.
  for (Index c = 0; c < b.columns; ++c) {
    double *column = b.data + c * b.stride, *w = column + behind();
    for (Index i = 0; i < rows; ++i) column[i] /= std::sqrt(lambda_[static_cast<std::size_t>(i)]);
    lapack::multiply(Form::transposed, Form::plain, count, 1, rows, 1, scaled_.data(), rows, column, rows, 0,
                     w, count);
    for (const Form form : {Form::plain, Form::transposed})
      lapack::solve_triangular(Side::left, form, count, 1, matrix_.data(), count, w, count);
    lapack::multiply(Form::plain, Form::plain, rows, 1, count, -1, scaled_.data(), rows, w, count, 1, column,
                     rows);
  }
  return std::nullopt;
}

double LowRankRepresentation::log_determinant() {
  double sum = 0;
  for (const double l : lambda_) sum += std::log(l);
  for (Index j = 0; j < m(); ++j) sum += 2 * std::log(matrix_.data()[j * (m() + 1)]);
  return sum;
}

void LowRankRepresentation::finish(RightHandSides b) {
  for (Index c = 0; c < b.columns; ++c) {
    for (Index i = 0; i < n(); ++i)
      b.data[c * b.stride + i] /= std::sqrt(lambda_[static_cast<std::size_t>(i)]);
  }
}

void LowRankRepresentation::inverse_diagonal(std::span<double> out) {
  const lapack::OneThread scope;
  // scaled ← Λ^{−½}Φ L_M⁻ᵀ:  (A⁻¹)ᵢᵢ = (1 − ‖its row i‖²)/λᵢ.
  lapack::solve_triangular(Side::right, Form::transposed, n(), m(), matrix_.data(), m(), scaled_.data(), n());
  std::fill(out.begin(), out.end(), 1.0);
  for (Index j = 0; j < m(); ++j) {
    const double* column = scaled_.data() + j * n();
    for (Index i = 0; i < n(); ++i) out[static_cast<std::size_t>(i)] -= column[i] * column[i];
  }
  for (Index i = 0; i < n(); ++i) out[static_cast<std::size_t>(i)] /= lambda_[static_cast<std::size_t>(i)];
}

/// With G = A⁻¹ − Σ ααᵀ, W = K_nm K_mm⁻¹ = ΦL_m⁻¹ and cᵢ = Gᵢᵢ (fitc) or 1/dᵢ (vfe):
///   Ĝ = G − diag(c),  R = ĜW,  S = WᵀR:   ∂loss = Σ R ∂K_nm − ½ Σ S ∂K_mm + ½ Σ cᵢ ∂k(0) + ½ Σ eᵢ ∂dᵢ,
///   eᵢ = Gᵢᵢ (fitc) or Gᵢᵢ − (k(0) − qᵢᵢ)/dᵢ² (vfe).
void LowRankRepresentation::gradient(RightHandSides b, const double* noise_slope, std::span<double> out) {
  const Index rows = n(), count = m();
  finish(b);
  std::vector<double> g(static_cast<std::size_t>(rows)), c(g.size());
  inverse_diagonal(g);  // leaves Λ^{−½}ΦL_M⁻ᵀ in scaled_
  const lapack::OneThread scope;
  out.back() = 0;
  double total = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double d = points_->noise()[i];
    for (Index column = 0; column < b.columns; ++column) {
      const double alpha = b.data[column * b.stride + static_cast<Index>(i)];
      g[i] -= alpha * alpha;
    }
    c[i] = kind_ == Kind::fitc ? g[i] : 1 / d;
    total += 0.5 * c[i];
    out.back() += 0.5 * noise_slope[i] * (kind_ == Kind::fitc ? g[i] : g[i] - missing_[i] / (d * d));
  }
  // R = Λ^{−½}(scaled L_M⁻¹)L_m⁻¹ − Σ α(αᵀW) − diag(c)W, and αᵀW = wᵀL_m⁻¹ because Φᵀα = w.
  lapack::solve_triangular(Side::right, Form::plain, rows, count, matrix_.data(), count, scaled_.data(),
                           rows);
  for (Index j = 0; j < count; ++j) {
    for (Index i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double& r = scaled_.data()[j * rows + i];
      r = r / std::sqrt(lambda_[at]) - c[at] * basis_.data()[j * rows + i];
    }
    for (Index column = 0; column < b.columns; ++column) {
      const double* alpha = b.data + column * b.stride;
      const double w = alpha[behind() + j];
      for (Index i = 0; i < rows; ++i) scaled_.data()[j * rows + i] -= alpha[i] * w;
    }
  }
  lapack::solve_triangular(Side::right, Form::plain, rows, count, inducing_.data(), count, scaled_.data(),
                           rows);
  // S = WᵀR = L_m⁻ᵀ(ΦᵀR).
  std::vector<double> s(static_cast<std::size_t>(count * count));
  lapack::multiply(Form::transposed, Form::plain, count, count, rows, 1, basis_.data(), rows, scaled_.data(),
                   rows, 0, s.data(), count);
  lapack::solve_triangular(Side::left, Form::transposed, count, count, inducing_.data(), count, s.data(),
                           count);
  double trace = 0;
  for (Index j = 0; j < count; ++j) {
    double& diagonal = s[static_cast<std::size_t>(j * (count + 1))];
    trace += diagonal;
    diagonal = 0;  // k(0)(1 + jitter) stands there: no length-scale in it
  }
  for (double& entry : s) entry *= -0.5;
  input_gradient_.assign(static_cast<std::size_t>(count), 0.0);
  std::vector<TileSums> sums(kernel_->terms.size());
  contract(points_->time(), rows, scaled_.data(), false, sums);
  contract(inputs_.data(), count, s.data(), true, sums);
  gradient_from_sums(*kernel_, sums, total - 0.5 * trace * (1 + jitter(count)), out);
}

void LowRankRepresentation::contract(const double* x, Index rows, const double* weights, bool both_move,
                                     std::span<TileSums> sums) {
  alignas(64) double some[kPanel];
  AlignedBuffer tile;
  tile.reserve(kPanel * m());
  const auto& terms = kernel_->terms;
  for (Index i0 = 0; i0 < rows; i0 += kPanel) {
    const Index count = std::min(kPanel, rows - i0);
    for (Index r = 0; r < kPanel; ++r) some[r] = x[std::min(i0 + r, rows - 1)];
    for (Index j = 0; j < m(); ++j) {
      double* to = tile.data() + kPanel * j;
      std::fill_n(to, kPanel, 0.0);
      std::copy_n(weights + j * rows + i0, count, to);
    }
    for (std::size_t t = 0; t < terms.size(); ++t) {
      contract_term(tile_kernels(), terms[t], some, inputs_.data(), m(), tile.data(), sums[t]);
    }
  }
  // ∂k(x − z)/∂z = σ² s/(x − z) with s = −τ ∂ρ/∂τ, the sum of the slopes by the logs of all times, because
  // only their ratios to τ count; where both ends are inputs, each pair moves twice.
  for (Index j = 0; j < m(); ++j) {
    const double z = inputs_[static_cast<std::size_t>(j)];
    double sum = 0;
    for (Index i = 0; i < rows; ++i) {
      const double lag = x[i] - z;
      if (lag == 0) continue;
      double slope = 0;
      for (const Term& term : terms) {
        slope += term.variance * visit_term(term, [&]<class S, class F>(S, F) {
                   const LagValue<double> at = at_lag<S, F>(std::abs(lag), term.numbers());
                   return at.by_lengthscale + at.by_period;
                 });
      }
      sum += weights[j * rows + i] * slope / lag;
    }
    input_gradient_[static_cast<std::size_t>(j)] += both_move ? 2 * sum : sum;
  }
}

void LowRankRepresentation::whiten(double* column, std::uint64_t seed) {
  const lapack::OneThread scope;
  std::vector<double> spread(static_cast<std::size_t>(m()));
  for (Index j = 0; j < m(); ++j) spread[static_cast<std::size_t>(j)] = normal_at(seed, j);
  lapack::solve_triangular(Side::left, Form::transposed, m(), 1, matrix_.data(), m(), spread.data(), m());
  lapack::multiply(Form::plain, Form::plain, n(), 1, m(), -1, scaled_.data(), n(), spread.data(), m(), 1,
                   column, n());
}

double LowRankRepresentation::condition() {
  double largest = 1;
  for (Index j = 0; j < m(); ++j) largest = std::max(largest, matrix_.data()[j * (m() + 1)]);
  return largest * largest;
}

void LowRankRepresentation::fill_basis(const Kernel& kernel, std::span<const double> x, double* out) const {
  const auto tests = static_cast<Index>(x.size());
  fill_dense(kernel, x.data(), tests, inputs_.data(), m(), out);
  lapack::solve_triangular(Side::right, Form::transposed, tests, m(), inducing_.data(), m(), out, tests);
}

/// mean φ*ᵀw, variance k(0) − ‖φ*‖² + ‖L_M⁻¹φ*‖².
std::optional<Failure> LowRankRepresentation::predict(std::span<const double> x, unsigned terms,
                                                      RightHandSides solved, double* projection,
                                                      double* variance) {
  const lapack::OneThread scope;
  const Kernel kernel = kernel_->subset(terms);
  const auto count = static_cast<Index>(x.size());
  AlignedBuffer basis;
  basis.reserve(std::min(kTests, count) * m());
  for (Index t0 = 0; t0 < count; t0 += kTests) {
    const Index tests = std::min(kTests, count - t0);
    fill_basis(kernel, x.subspan(static_cast<std::size_t>(t0), static_cast<std::size_t>(tests)),
               basis.data());
    lapack::multiply(Form::plain, Form::plain, tests, solved.columns, m(), 1, basis.data(), tests,
                     solved.data + behind(), solved.stride, 0, projection + t0, count);
    if (variance == nullptr) continue;
    std::fill_n(variance + t0, tests, kernel.variance());
    const auto add_squares = [&](double sign) {
      for (Index j = 0; j < m(); ++j) {
        for (Index t = 0; t < tests; ++t) {
          const double value = basis.data()[j * tests + t];
          variance[t0 + t] += sign * value * value;
        }
      }
    };
    add_squares(-1);
    lapack::solve_triangular(Side::right, Form::transposed, tests, m(), matrix_.data(), m(), basis.data(),
                             tests);
    add_squares(1);
    for (Index t = t0; t < t0 + tests; ++t) variance[t] = std::max(0.0, variance[t]);
  }
  return std::nullopt;
}

void LowRankRepresentation::covariance(std::span<const double> x, double* out) {
  const lapack::OneThread scope;
  const auto tests = static_cast<Index>(x.size());
  AlignedBuffer basis;
  basis.reserve(tests * m());
  fill_dense(*kernel_, x.data(), tests, x.data(), tests, out);
  fill_basis(*kernel_, x, basis.data());
  lapack::multiply(Form::plain, Form::transposed, tests, tests, m(), -1, basis.data(), tests, basis.data(),
                   tests, 1, out, tests);
  lapack::solve_triangular(Side::right, Form::transposed, tests, m(), matrix_.data(), m(), basis.data(),
                           tests);
  lapack::multiply(Form::plain, Form::transposed, tests, tests, m(), 1, basis.data(), tests, basis.data(),
                   tests, 1, out, tests);
}

}  // namespace bandgp
