// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/columns_representation.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "bandgp/bandwidth/choose.hpp"
#include "bandgp/base/dot.hpp"
#include "bandgp/base/normal_at.hpp"

namespace bandgp {
namespace {

/// The share of the tolerance that harmonics have; the other terms have the rest of it.
constexpr double kHarmonicShare = 0.1;
/// Seconds of one evaluation for each point and product of the matrix M, measured on 10⁵ points and 29
/// columns.
constexpr double kSecondsPerProduct = 1e-9;

using Columns = Eigen::Map<Eigen::MatrixXd, Eigen::Aligned64, Eigen::OuterStride<>>;
using ConstColumns = Eigen::Map<const Eigen::MatrixXd, Eigen::Aligned64, Eigen::OuterStride<>>;
using Vector = Eigen::Map<Eigen::VectorXd>;

}  // namespace

/// Columns a₀, a₁ cos ωu, a₁ sin ωu, a₂ cos 2ωu, … with a_k² = σ²c_k, ω = 2π/P and u the time from the
/// middle.
struct ColumnsRepresentation::Repeating {
  std::size_t index;  // in the kernel
  Index first;        // column
  double period;
  Harmonics kept;
  std::vector<double> amplitude;

  Index harmonics() const { return std::ssize(amplitude); }
  Index columns() const { return 2 * harmonics() - 1; }
};

struct ColumnsRepresentation::Small {
  Eigen::VectorXd diagonal;  // of M
  Eigen::MatrixXd root;      // lower, M = LLᵀ
  bool positive_definite = false;

  template <class Block>
  void solve(Block&& b) const {  // b ← M⁻¹b
    root.triangularView<Eigen::Lower>().solveInPlace(b);
    root.transpose().triangularView<Eigen::Upper>().solveInPlace(b);
  }
};

ColumnsRepresentation::ColumnsRepresentation(std::unique_ptr<Representation> rest, double tolerance,
                                             double max_bytes)
    : others_(std::move(rest)),
      current_(others_.get()),
      tolerance_(tolerance),
      max_bytes_(max_bytes),
      small_(std::make_unique<Small>()) {}
ColumnsRepresentation::~ColumnsRepresentation() = default;

Index ColumnsRepresentation::columns() const {
  return repeating_.empty() ? 0 : repeating_.back().first + repeating_.back().columns();
}

/// Harmonics that are left out change the entries of A by at most R = Σ σ²R_K.  With t = R Σ 1/dᵢ, which
/// bounds both the largest eigenvalue and the trace of D^{−½}ED^{−½}, the NLL changes by at most ½t max(1,
/// q).
void ColumnsRepresentation::split(const Kernel& kernel, const Observations& points, double& q_bound) {
  kernel_ = &kernel;
  points_ = &points;
  std::vector<std::size_t> counts;
  if (frozen_) {
    for (const Repeating& term : repeating_) counts.push_back(term.amplitude.size());
  }
  rest_kernel_.terms.clear();
  repeating_.clear();
  place_in_rest_.clear();
  left_out_ = {};
  double precision = 0;
  for (Index i = 0; i < points.size(); ++i) precision += 1 / points.noise()[i];
  const auto repeats = std::ranges::count_if(kernel.terms, is_strictly_periodic);
  Index first = 0;
  for (std::size_t t = 0; t < kernel.terms.size(); ++t) {
    const Term& term = kernel.terms[t];
    if (!is_strictly_periodic(term)) {
      place_in_rest_.push_back(static_cast<int>(rest_kernel_.terms.size()));
      rest_kernel_.terms.push_back(term);
      continue;
    }
    place_in_rest_.push_back(-1);
    const double allowed =
        2 * kHarmonicShare * tolerance_ /
        (precision * std::max(1.0, q_bound) * term.variance * static_cast<double>(repeats));
    Repeating columns{t,
                      first,
                      term.period,
                      repeating_.size() < counts.size()
                          ? first_harmonics(term.smoothness, counts[repeating_.size()])
                          : harmonics(term.smoothness, allowed),
                      {}};
    for (const double c : columns.kept.coefficient) columns.amplitude.push_back(std::sqrt(c * term.variance));
    left_out_ = left_out_ + UpperBound::of(term.variance) * columns.kept.rest;
    first += columns.columns();
    repeating_.push_back(std::move(columns));
  }
  current_ = rest_kernel_.terms.empty() && !repeating_.empty() ? &noise_ : others_.get();
  if (repeating_.empty()) return;
  const double* x = points.time();
  middle_ = x[0] + 0.5 * (x[points.size() - 1] - x[0]);
  // What the others choose keeps a bound that falls with q + n within their share of the tolerance.
  const auto n = static_cast<double>(points.size());
  q_bound = (q_bound + n) / (1 - kHarmonicShare) - n;
}

double ColumnsRepresentation::bytes(const Observations& points) const {
  const auto g = static_cast<double>(columns());
  return 8 * ((g + 4) * static_cast<double>(points.padded_size()) + 3 * g * g);
}

Cost ColumnsRepresentation::cost(const Kernel& kernel, const Observations& points, double q_bound) {
  split(kernel, points, q_bound);
  if (repeating_.empty()) return rest().cost(kernel, points, q_bound);
  Cost cost = rest().cost(rest_kernel_, points, q_bound);
  const auto g = static_cast<double>(columns());
  cost.bytes += bytes(points);
  // The columns go through what holds the other terms as right-hand sides do.
  cost.seconds *= 1 + 0.1 * g;
  cost.seconds += kSecondsPerProduct * static_cast<double>(points.size()) * g * (g + 20);
  cost.method = current_ == &noise_ ? name() : cost.method.empty() ? rest().name() : cost.method;
  std::vector<TermPlace> places(kernel.terms.size());
  for (std::size_t t = 0; t < places.size(); ++t) {
    const int in_rest = place_in_rest_[t];
    if (in_rest >= 0 && static_cast<std::size_t>(in_rest) < cost.places.size())
      places[t] = cost.places[static_cast<std::size_t>(in_rest)];
  }
  for (const Repeating& term : repeating_) places[term.index] = {"columns", term.columns()};
  cost.places = std::move(places);
  return cost;
}

void ColumnsRepresentation::freeze() {
  frozen_ = true;
  others_->freeze();
}

void ColumnsRepresentation::thaw() {
  frozen_ = false;
  others_->thaw();
}

std::optional<Failure> ColumnsRepresentation::choose(const Kernel& kernel, const Observations& points,
                                                     double q_bound) {
  split(kernel, points, q_bound);
  if (repeating_.empty()) return rest().choose(kernel, points, q_bound);
  if (const double own = bytes(points); own > max_bytes_)
    return Failure{Failure::Kind::too_large, 0, own, cost(kernel, points, q_bound).seconds};
  if (auto failure = rest().choose(rest_kernel_, points, q_bound)) return failure;
  stride_ =
      round_up(std::max(points.padded_size(), rest().reduced_size()), 8) + round_up(rest().carried_size(), 8);
  return std::nullopt;
}

Index ColumnsRepresentation::carried_size() const {
  return repeating_.empty() ? rest().carried_size() : round_up(rest().carried_size(), 8) + columns();
}

/// With b − Γβ_b in the place of b, β_b = M⁻¹ΓᵀA₀⁻¹b, and β_b behind it: bᵀA⁻¹c is a sum of squares where b =
/// c.
double ColumnsRepresentation::product(const double* a, const double* b, Index length) const {
  double sum = dot(a, b, length);
  const double *of_a = a + weights_at(), *of_b = b + weights_at();
  for (Index j = 0; j < columns(); ++j) sum += of_a[j] * of_b[j];
  return sum;
}

void ColumnsRepresentation::values_at(const Repeating& term, double x, double* out) const {
  const double u = x - middle_;
  // What is left of the last turn is exact: a product and a difference, rounded once.
  const double turns = std::fma(-std::round(u / term.period), term.period, u) / term.period;
  const double angle = 2 * std::numbers::pi * turns, c = std::cos(angle), s = std::sin(angle);
  double cos = 1, sin = 0;
  out[0] = term.amplitude[0];
  for (Index k = 1; k < term.harmonics(); ++k) {
    const double next = cos * c - sin * s;
    sin = sin * c + cos * s;
    cos = next;
    const double amplitude = term.amplitude[static_cast<std::size_t>(k)];
    out[2 * k - 1] = amplitude * cos;
    out[2 * k] = amplitude * sin;
  }
}

void ColumnsRepresentation::fill_columns(double* to) const {
  std::fill_n(to, stride_ * columns(), 0.0);
  std::vector<double> row;
  for (const Repeating& term : repeating_) {
    row.resize(static_cast<std::size_t>(term.columns()));
    for (Index i = 0; i < points_->size(); ++i) {
      values_at(term, points_->time()[i], row.data());
      for (std::size_t j = 0; j < row.size(); ++j)
        to[(term.first + static_cast<Index>(j)) * stride_ + i] = row[j];
    }
  }
}

std::optional<Failure> ColumnsRepresentation::factor(RightHandSides b) {
  if (repeating_.empty()) return rest().factor(b);
  const Index g = columns();
  gamma_.reserve(stride_ * (g + b.columns));
  fill_columns(gamma_.data());
  double* own = gamma_.data() + g * stride_;
  for (Index c = 0; c < b.columns; ++c) std::copy_n(b.data + c * b.stride, stride_, own + c * stride_);
  if (auto failure = rest().factor({gamma_.data(), g + b.columns, stride_})) return failure;
  for (Index c = 0; c < b.columns; ++c) std::copy_n(own + c * stride_, stride_, b.data + c * b.stride);

  const ConstColumns reduced(gamma_.data(), round_up(reduced_size(), 8), g, Eigen::OuterStride<>(stride_));
  small_->root = Eigen::MatrixXd::Identity(g, g);
  small_->root.selfadjointView<Eigen::Lower>().rankUpdate(reduced.adjoint());
  small_->diagonal = small_->root.diagonal();
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(small_->root);
  if (llt.info() != Eigen::Success) return Failure{Failure::Kind::not_positive_definite, 0};
  weigh(b);
  finished_ = 0;
  columns_solved_ = false;
  return std::nullopt;
}

/// β = M⁻¹ΓᵀA₀⁻¹b behind each column, and the column less Γβ.  A second step takes off what rounding left:
/// the products of Γ with what remains are β itself.
void ColumnsRepresentation::weigh(RightHandSides b) const {
  const Index g = columns(), length = round_up(reduced_size(), 8);
  const ConstColumns gamma(gamma_.data(), stride_, g, Eigen::OuterStride<>(stride_));
  Eigen::VectorXd step(g);
  for (Index c = 0; c < b.columns; ++c) {
    Vector column(b.data + c * b.stride, stride_), beta(b.data + c * b.stride + weights_at(), g);
    beta.setZero();
    for (int round = 0; round < 2; ++round) {
      step.noalias() = gamma.topRows(length).adjoint() * column.head(length);
      step -= beta;
      small_->solve(step);
      beta += step;
      column.noalias() -= gamma * step;
    }
  }
}

bool ColumnsRepresentation::reduce(RightHandSides b) {
  if (!rest().reduce(b)) return false;
  if (!repeating_.empty()) weigh(b);
  return true;
}

double ColumnsRepresentation::log_determinant() {
  double own = 0;
  for (Index j = 0; j < columns(); ++j) own += 2 * std::log(small_->root(j, j));
  return rest().log_determinant() + own;
}

/// A⁻¹b = A₀⁻¹(b − Γβ): the weights behind the columns stay.
void ColumnsRepresentation::finish(RightHandSides b) {
  if (!repeating_.empty()) {
    reduced_.reserve(stride_ * b.columns);
    for (Index c = 0; c < b.columns; ++c)
      std::copy_n(b.data + c * b.stride, stride_, reduced_.data() + c * stride_);
    finished_ = b.columns;
    columns_solved_ = false;
  }
  rest().finish(b);
}

void ColumnsRepresentation::solve_columns() {
  if (columns_solved_) return;
  const Index g = columns();
  joint_.reserve(stride_ * (g + finished_));
  std::copy_n(gamma_.data(), stride_ * g, joint_.data());
  std::copy_n(reduced_.data(), stride_ * finished_, joint_.data() + stride_ * g);
  rest().finish({joint_.data(), g + finished_, stride_});
  columns_solved_ = true;
}

/// With X = A₀⁻¹ΓL⁻ᵀ, A⁻¹ = A₀⁻¹ − XXᵀ: to the other terms the columns of X are further α.  Then A⁻¹Γ = XL⁻¹,
/// and
///   by the log of column j's scale      1 − (M⁻¹)_jj − Σ β_j²
///   by what moves Γ itself, ∂Γ          Σ_j ∂γ_jᵀ(A⁻¹γ_j − Σ α β_j)
void ColumnsRepresentation::gradient(RightHandSides b, const double* noise_slope, std::span<double> out) {
  if (repeating_.empty()) return rest().gradient(b, noise_slope, out);
  const Index g = columns(), n = points_->size();
  double* own = gamma_.data() + g * stride_;
  for (Index c = 0; c < b.columns; ++c) std::copy_n(b.data + c * b.stride, stride_, own + c * stride_);
  Columns x(gamma_.data(), stride_, g, Eigen::OuterStride<>(stride_));
  small_->root.transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(x);
  std::vector<double> of_rest(rest_kernel_.parameter_count() + 1);
  rest().gradient({gamma_.data(), g + b.columns, stride_}, noise_slope, of_rest);
  for (Index c = 0; c < b.columns; ++c) std::copy_n(own + c * stride_, stride_, b.data + c * b.stride);
  for (std::size_t t = 0; t < kernel_->terms.size(); ++t) {
    if (place_in_rest_[t] < 0) continue;
    const auto in_rest = static_cast<std::size_t>(place_in_rest_[t]);
    std::copy_n(of_rest.begin() + static_cast<std::ptrdiff_t>(rest_kernel_.first_parameter(in_rest)),
                kernel_->terms[t].parameters().size(),
                out.begin() + static_cast<std::ptrdiff_t>(kernel_->first_parameter(t)));
  }
  out.back() = of_rest.back();

  Eigen::VectorXd by_scale = Eigen::VectorXd::Ones(g);
  const Eigen::MatrixXd inverse_root =
      small_->root.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(g, g));
  by_scale -= inverse_root.colwise().squaredNorm().transpose();
  small_->root.triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(x);  // A⁻¹Γ
  for (Index c = 0; c < b.columns; ++c) {
    const double* column = b.data + c * b.stride;
    const Eigen::Map<const Eigen::VectorXd> beta(column + weights_at(), g), alpha(column, n);
    by_scale -= beta.cwiseAbs2();
    x.topRows(n).noalias() -= alpha * beta.transpose();
  }
  std::vector<double> row;
  for (const Repeating& term : repeating_) {
    double by_variance = 0, by_smoothness = 0, by_period = 0;
    for (Index k = 0; k < term.harmonics(); ++k) {
      double own_scale = by_scale[term.first + std::max<Index>(0, 2 * k - 1)];
      if (k > 0) own_scale += by_scale[term.first + 2 * k];
      by_variance += 0.5 * own_scale;
      by_smoothness += 0.5 * term.kept.slope[static_cast<std::size_t>(k)] * own_scale;
    }
    // ∂ cos kωu/∂log P = kωu sin kωu, and of the sine −kωu cos kωu.
    row.resize(static_cast<std::size_t>(term.columns()));
    for (Index i = 0; i < n; ++i) {
      const double* values = row.data();
      values_at(term, points_->time()[i], row.data());
      double sum = 0;
      for (Index k = 1; k < term.harmonics(); ++k) {
        const Index cos = term.first + 2 * k - 1;
        sum += static_cast<double>(k) * (values[2 * k] * x(i, cos) - values[2 * k - 1] * x(i, cos + 1));
      }
      by_period += (points_->time()[i] - middle_) * sum;
    }
    by_period *= 2 * std::numbers::pi / term.period;
    out[kernel_->parameter_index(term.index, &Term::variance)] = by_variance;
    out[kernel_->parameter_index(term.index, &Term::period)] = by_period;
    out[kernel_->parameter_index(term.index, &Term::smoothness)] = by_smoothness;
  }
}

void ColumnsRepresentation::inverse_diagonal(std::span<double> out) {
  if (repeating_.empty()) return rest().inverse_diagonal(out);
  solve_columns();
  columns_solved_ = false;
  const Index g = columns();
  Columns x(joint_.data(), points_->size(), g, Eigen::OuterStride<>(stride_));
  small_->root.transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(x);
  rest().inverse_diagonal(out);
  for (Index i = 0; i < points_->size(); ++i) out[static_cast<std::size_t>(i)] -= x.row(i).squaredNorm();
}

/// Weights drawn around their mean, β + L⁻ᵀε, leave of b what the other terms and the noise make.
void ColumnsRepresentation::whiten(double* column, std::uint64_t seed) {
  if (!repeating_.empty()) {
    const Index g = columns();
    Eigen::VectorXd drawn(g);
    for (Index j = 0; j < g; ++j) drawn[j] = normal_at(seed, j);
    small_->root.transpose().triangularView<Eigen::Upper>().solveInPlace(drawn);
    Vector(column, stride_).noalias() -=
        ConstColumns(gamma_.data(), stride_, g, Eigen::OuterStride<>(stride_)) * drawn;
    ++seed;
  }
  rest().whiten(column, seed);
}

/// q is least at the true β: with g = Γᵀα − β it is too large by gᵀM⁻¹g.  What Γ's entries are off by changes
/// it by twice Σ αᵢ δγᵢⱼ βⱼ; rounding of M's entries changes log|M| by their shares in tr(M⁻¹M).
double ColumnsRepresentation::rounding(double* column, const double* b) {
  if (repeating_.empty()) return rest().rounding(column, b);
  constexpr double kUnit = 0x1p-53;
  const Index g = columns(), n = points_->size(), length = round_up(reduced_size(), 8);
  const ConstColumns gamma(gamma_.data(), length, g, Eigen::OuterStride<>(stride_));
  const Eigen::VectorXd beta = Vector(column + weights_at(), g);
  Eigen::VectorXd left = gamma.adjoint() * Vector(column, length) - beta;
  small_->root.triangularView<Eigen::Lower>().solveInPlace(left);
  const Eigen::MatrixXd inverse_root =
      small_->root.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(g, g));
  const double lost = inverse_root.colwise().squaredNorm().dot(small_->diagonal);  // Σ M_jj (M⁻¹)_jj

  AlignedBuffer alpha, residual;  // A⁻¹b, b − Γβ
  alpha.reserve(stride_);
  std::copy_n(column, stride_, alpha.data());
  rest().finish({alpha.data(), 1, stride_});
  if (finished_ > 0) {  // what finish() was given last is what predictions are of
    joint_.reserve(stride_ * finished_);
    std::copy_n(reduced_.data(), stride_ * finished_, joint_.data());
    rest().finish({joint_.data(), finished_, stride_});
    columns_solved_ = false;
  }
  residual.reserve(points_->padded_size());
  std::copy_n(b, points_->padded_size(), residual.data());
  std::vector<double> row;
  double of_columns = 0;
  for (const Repeating& term : repeating_) {
    row.resize(static_cast<std::size_t>(term.columns()));
    for (Index i = 0; i < n; ++i) {
      values_at(term, points_->time()[i], row.data());
      const double turns = std::abs(points_->time()[i] - middle_) / term.period;
      double lost_here = 0;
      for (Index j = 0; j < term.columns(); ++j) {
        const double product = row[static_cast<std::size_t>(j)] * beta[term.first + j];
        residual.data()[i] -= product;
        // The angle of harmonic k is k times one that is a difference of turns.
        lost_here += std::abs(product) * static_cast<double>(4 + j) * (1 + 2 * std::numbers::pi * turns);
      }
      of_columns += kUnit * std::abs(alpha.data()[i]) * lost_here;
    }
  }
  const double of_entries = kUnit * std::sqrt(static_cast<double>(n)) * lost;
  return 0.5 * (left.squaredNorm() + of_entries) + of_columns + rest().rounding(column, residual.data());
}

/// What the harmonics that are left out add to the bounds of the rest, by the triangle inequality.  With A′
/// the exact covariance of the harmonics kept, A′ ⪯ A ⪯ (1 + t)A′: the determinant grows and q falls.
Certificate ColumnsRepresentation::certificate(CertificateInputs inputs) const {
  Certificate certificate = rest().certificate(inputs);
  if (repeating_.empty() || certificate.other_model) return certificate;
  UpperBound precision;
  for (Index i = 0; i < points_->size(); ++i) precision = precision + UpperBound::of(1 / points_->noise()[i]);
  const UpperBound t = left_out_ * precision;
  const UpperBound q = computed(inputs.q) + UpperBound::exactly(2) * certificate.nll_error;
  inputs.q = q.value();
  inputs.cross_left_out = (left_out_ * sqrt(precision)).value();
  const Certificate harmonics = make_certificate(t, inputs);
  certificate.rho = certificate.rho + t + certificate.rho * t;
  certificate.nll_error =
      t.value() < 1 ? certificate.nll_error + UpperBound::exactly(0.5) * t * max(UpperBound::exactly(1), q)
                    : UpperBound::infinite();
  certificate.mean_error = certificate.mean_error + harmonics.mean_error;
  certificate.variance_error = certificate.variance_error + harmonics.variance_error + left_out_;
  return certificate;
}

std::string_view ColumnsRepresentation::name() const {
  return current_ == &noise_ ? std::string_view("columns") : rest().name();
}

/// How much a pivot of M loses is what its rounding is magnified by, however large its entries.
double ColumnsRepresentation::condition() {
  double own = 1;
  for (Index j = 0; j < columns(); ++j)
    own = std::max(own, small_->diagonal[j] / (small_->root(j, j) * small_->root(j, j)));
  return std::max(rest().condition(), own);
}

unsigned ColumnsRepresentation::terms_of_rest(unsigned terms) const {
  if (terms == kAllTerms) return kAllTerms;
  unsigned chosen = 0;
  for (std::size_t t = 0; t < place_in_rest_.size() && t < 32; ++t) {
    if ((terms >> t & 1U) != 0 && place_in_rest_[t] >= 0) chosen |= 1U << place_in_rest_[t];
  }
  return chosen;
}

std::vector<double> ColumnsRepresentation::unexplained(std::span<const double> x, unsigned terms,
                                                       const std::vector<double>& projection) const {
  const std::size_t m = x.size(), g = static_cast<std::size_t>(columns());
  std::vector<double> rows(m * g, 0.0);
  for (const Repeating& term : repeating_) {
    const bool chosen = terms == kAllTerms || (terms >> term.index & 1U) != 0;
    for (std::size_t t = 0; chosen && t < m; ++t)
      values_at(term, x[t], rows.data() + t * g + static_cast<std::size_t>(term.first));
  }
  if (projection.empty()) return rows;
  for (std::size_t t = 0; t < m; ++t) {
    for (std::size_t j = 0; j < g; ++j) rows[t * g + j] -= projection[j * m + t];
  }
  return rows;
}

/// k*ᵀA⁻¹b = k₀*ᵀA₀⁻¹(b − Γβ) + γ*ᵀβ;  the variance is that of A₀ and uᵀM⁻¹u with u = γ* − ΓᵀA₀⁻¹k₀*.
std::optional<Failure> ColumnsRepresentation::predict(std::span<const double> x, unsigned terms,
                                                      RightHandSides solved, double* projection,
                                                      double* variance) {
  if (repeating_.empty()) return rest().predict(x, terms, solved, projection, variance);
  const Index m = std::ssize(x), g = columns();
  const unsigned of_rest = terms_of_rest(terms);
  std::vector<double> of_columns;  // of Γ, where A₀ has a share in this curve
  if (current_ == &noise_ || of_rest == 0) {
    std::fill_n(projection, solved.columns * m, 0.0);
    if (variance != nullptr) std::fill_n(variance, m, 0.0);
  } else if (variance == nullptr && !columns_solved_) {
    if (auto failure = rest().predict(x, of_rest, solved, projection, nullptr)) return failure;
  } else {
    assert(solved.columns == finished_);
    solve_columns();
    of_columns.resize(static_cast<std::size_t>((g + finished_) * m));
    if (auto failure =
            rest().predict(x, of_rest, {joint_.data(), g + finished_, stride_}, of_columns.data(), variance))
      return failure;
    std::copy_n(of_columns.data() + g * m, finished_ * m, projection);
  }
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<double> rows = unexplained(x, terms, {});
  const Eigen::Map<const Rows> values(rows.data(), m, g);
  for (Index c = 0; c < solved.columns; ++c)
    Vector(projection + c * m, m).noalias() +=
        values * Vector(solved.data + c * solved.stride + weights_at(), g);
  if (variance == nullptr) return std::nullopt;
  rows = unexplained(x, terms, of_columns);
  Eigen::Map<Eigen::MatrixXd> u(rows.data(), g, m);  // uᵀM⁻¹u = ‖L⁻¹u‖²
  small_->root.triangularView<Eigen::Lower>().solveInPlace(u);
  Vector(variance, m) += u.colwise().squaredNorm().transpose();
  return std::nullopt;
}

void ColumnsRepresentation::covariance(std::span<const double> x, double* out) {
  if (repeating_.empty()) return rest().covariance(x, out);
  const Index m = std::ssize(x), g = columns();
  std::vector<double> of_columns;
  rest().covariance(x, out);
  if (current_ != &noise_) {
    solve_columns();
    of_columns.resize(static_cast<std::size_t>((g + finished_) * m));
    (void)rest().predict(x, kAllTerms, {joint_.data(), g + finished_, stride_}, of_columns.data(), nullptr);
  }
  std::vector<double> rows = unexplained(x, kAllTerms, of_columns);
  Eigen::Map<Eigen::MatrixXd> u(rows.data(), g, m);
  small_->root.triangularView<Eigen::Lower>().solveInPlace(u);
  Eigen::Map<Eigen::MatrixXd>(out, m, m).noalias() += u.transpose() * u;
}

std::optional<Weights> ColumnsRepresentation::weights() {
  return repeating_.empty() ? rest().weights() : std::nullopt;
}

std::optional<DualState> ColumnsRepresentation::state(RightHandSides solved) {
  return repeating_.empty() ? rest().state(solved) : std::nullopt;
}

}  // namespace bandgp
