// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/posterior.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include "bandgp/base/error.hpp"
#include "bandgp/base/normal_at.hpp"
#include "bandgp/gp/simulate.hpp"

namespace bandgp {
namespace {

/// Nats within which the dual's draws pass for those of the representation in use.
constexpr double kSamePosterior = 0.1;

void require_success(const std::optional<Failure>& failure) {
  if (!failure) return;
  if (failure->kind == Failure::Kind::not_positive_definite) {
    throw NoResult({MessageCode::not_positive_definite, {{"row", failure->row}}});
  }
  throw NoResult({MessageCode::prediction_too_large, {{"bytes", failure->bytes}}});
}

/// Observations of one time: the sum of their precisions, and of their differences from the curve times that.
struct Precision {
  double total = 0, weighted = 0;
  Precision operator+(const Precision& other) const {
    return {total + other.total, weighted + other.weighted};
  }
};

/// Test times in the internal unit and in increasing order, with the way back.
struct SortedTimes {
  std::vector<double> x;
  std::vector<std::size_t> order;

  SortedTimes(std::span<const double> times, const Units& units) : x(times.size()), order(times.size()) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t t = 0; t < times.size(); ++t) {
      if (!std::isfinite(times[t]))
        throw std::invalid_argument(fmt::format("prediction time {} is {}", t + 1, times[t]));
    }
    if (!std::is_sorted(times.begin(), times.end())) {
      std::sort(order.begin(), order.end(),
                [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
    }
    for (std::size_t t = 0; t < times.size(); ++t) x[t] = units.time_in(times[order[t]]);
  }
};

}  // namespace

Posterior::Posterior(const std::shared_ptr<const Series>& series, const Model& model,
                     std::unique_ptr<Representation> representation)
    : Posterior(series, model, std::make_unique<Evaluator>(*series, model.mean, std::move(representation))) {}

Posterior::Posterior(std::shared_ptr<const Series> series, const Model& model,
                     std::unique_ptr<Evaluator> evaluator)
    : series_(std::move(series)), model_(model), evaluator_(std::move(evaluator)) {
  require_valid(model, *series_);
  factor();
}

Posterior::Posterior(std::shared_ptr<const Series> series, const Model& model, const DualState& state)
    : series_(std::move(series)),
      model_(model),
      factored_(true),
      restored_(std::make_unique<DualRepresentation>(1.0, 0.0)),
      stride_(round_up(state.nodes(), 8)),
      column_weights_(state.mean),
      global_columns_(model.mean, state.middle, state.half_span) {
  restored_->restore(state);
  const Index columns = 1 + column_weights_.count;
  weights_.reserve(stride_ * columns);
  std::fill_n(weights_.data(), stride_ * columns, 0.0);
  for (Index c = 0; c < columns; ++c)
    std::copy_n(state.weights.data() + c * state.nodes(), state.nodes(), weights_.data() + c * stride_);
  likelihood_.method = "dual";
}

std::optional<DualState> Posterior::dual_state() {
  factor();
  std::optional<DualState> state = representation().state(columns());
  if (state) {
    state->mean = column_weights();
    state->middle = global_columns().middle();
    state->half_span = global_columns().half_span();
  }
  return state;
}

std::vector<double> Posterior::mean_coefficients() const {
  return mean_in_user_units(column_weights().beta, series_->units, global_columns());
}

void Posterior::factor() {
  if (factored_) return;
  require_success(evaluator_->evaluate(to_internal(model_, series_->units), false, likelihood_));
  likelihood_.nll = nll_to_user(likelihood_.nll, *series_);
  evaluator_->finish();
  factored_ = true;
}

double Posterior::rounding() {
  if (!evaluator_) throw std::invalid_argument("rounding needs the data, which this model was saved without");
  factor();
  return evaluator_->rounding();
}

void Posterior::project(std::span<const double> x, unsigned terms, std::vector<double>& projection,
                        std::vector<double>* variance) {
  factor();
  const RightHandSides solved = columns();
  projection.resize(x.size() * static_cast<std::size_t>(solved.columns));
  if (variance != nullptr) variance->resize(x.size());
  require_success(representation().predict(x, terms, solved, projection.data(),
                                           variance != nullptr ? variance->data() : nullptr));
}

/// mean = h*ᵀβ + k*ᵀα;  variance + uᵀM⁻¹u with u = h* − (A⁻¹H)ᵀk* (universal kriging), h* the mean's columns
/// at x* or, for a term by itself, 0.
Posterior::Curve Posterior::curve(const std::vector<double>& x, unsigned terms, bool with_columns,
                                  bool with_variance) {
  Curve result;
  project(x, terms, result.mean, with_variance ? &result.variance : nullptr);
  const ColumnWeights& weights = column_weights();
  const std::size_t m = x.size(), columns = static_cast<std::size_t>(weights.count);
  std::vector<double> projection = std::move(result.mean), u(columns);
  result.mean.assign(projection.begin(), projection.begin() + static_cast<std::ptrdiff_t>(m));
  for (std::size_t t = 0; t < m; ++t) {
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = with_columns ? global_columns().value(static_cast<Index>(c), x[t]) : 0;
      result.mean[t] += value * weights.beta[c];
      u[c] = value - projection[(c + 1) * m + t];
    }
    if (with_variance) result.variance[t] += weights.product(u.data(), u.data());
  }
  return result;
}

Prediction Posterior::predict(std::span<const double> times, bool with_variance) {
  const SortedTimes tests(times, series_->units);
  const std::size_t m = tests.x.size();
  const Curve curve = this->curve(tests.x, Representation::kAllTerms, true, with_variance);
  const Units& units = series_->units;
  const double square = units.value_unit * units.value_unit;
  Prediction result;
  result.mean.resize(m);
  if (with_variance) {
    result.variance.resize(m);
    result.variance_observed.resize(m);
  }
  for (std::size_t t = 0; t < m; ++t) {
    const std::size_t at = tests.order[t];
    result.mean[at] = units.value_out(curve.mean[t]);
    if (with_variance) {
      result.variance[at] = square * curve.variance[t];
      result.variance_observed[at] = square * curve.variance[t] + model_.noise;
    }
  }
  return result;
}

std::vector<Component> Posterior::components(std::span<const double> times, bool with_variance) {
  const SortedTimes tests(times, series_->units);
  const std::size_t m = tests.x.size(), terms = model_.kernel.terms.size();
  const double unit = series_->units.value_unit;
  std::vector<Component> components(terms);
  for (std::size_t term = 0; term < terms; ++term) {
    const Curve curve = this->curve(tests.x, 1U << term, false, with_variance);
    Component& component = components[term];
    component.mean.resize(m);
    for (std::size_t t = 0; t < m; ++t) component.mean[tests.order[t]] = unit * curve.mean[t];
    if (!with_variance) continue;
    component.variance.resize(m);
    for (std::size_t t = 0; t < m; ++t) component.variance[tests.order[t]] = unit * unit * curve.variance[t];
  }
  return components;
}

/// Whether draws of the prior are at hand in linear time, and this is the exact GP's posterior.
bool Posterior::simulates_prior() const {
  return evaluator_ && !likelihood_.certificate.other_model &&
         likelihood_.certificate.nll_error.value() <= kSamePosterior &&
         std::ranges::all_of(model_.kernel.terms, [](const Term& term) {
           return has_states(term) || has_grid(term) || is_strictly_periodic(term);
         });
}

bool Posterior::has_functions() const {
  if (!std::ranges::all_of(model_.kernel.terms, has_basis)) return false;
  if (!evaluator_ || likelihood_.method == "dual") return true;  // draws its own weights
  return likelihood_.certificate.nll_error.value() <= kSamePosterior;
}

std::vector<PosteriorFunction> Posterior::functions(Index count, std::uint64_t seed, const Drawn& drawn) {
  if (!has_functions())
    throw std::invalid_argument(
        "whole curves can be drawn where all terms are se and the fit is certified as the exact GP's; "
        "sample() draws at given times");
  factor();
  const std::optional<Weights> weights = representation().weights();
  if (!weights) {
    // A band or the dense matrix is in use: the dual is the same posterior to the tolerance.
    const InternalCut cut{.method = Method::dual, .tolerance = 1e-6};
    return Posterior(series_, model_, std::make_unique<AutoRepresentation>(cut, 0))
        .functions(count, seed, drawn);
  }
  PosteriorFunction shared;
  for (const Weights::Part& part : weights->parts) {
    auto grid = std::make_shared<GaussianGrid>();
    grid->restore(part.design, part.runs);
    shared.parts_.push_back({std::move(grid), {}, 0});
  }
  shared.middle_ = global_columns().middle();
  shared.half_span_ = global_columns().half_span();
  shared.units_ = series_->units;
  std::vector<PosteriorFunction> functions(static_cast<std::size_t>(count), shared);
  for (Index k = 0; k < count; ++k) {
    draw(*weights, seed * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(k),
         functions[static_cast<std::size_t>(k)]);
    if (drawn) drawn(k + 1);
  }
  return functions;
}

/// β = β̂ + Rz with RRᵀ = M⁻¹, and v = w(β) + L⁻ᵀε: given β the weights are those of y − Hβ.
void Posterior::draw(const Weights& weights, std::uint64_t seed, PosteriorFunction& f) {
  const RightHandSides solved = columns();
  const ColumnWeights& mean = column_weights();
  const auto c = [&](Index a, Index b) { return a < mean.count && b < mean.count ? mean.entry(a, b) : 0.0; };
  const double r00 = std::sqrt(std::max(0.0, c(0, 0))), r10 = r00 > 0 ? c(1, 0) / r00 : 0,
               r11 = std::sqrt(std::max(0.0, c(1, 1) - r10 * r10));
  constexpr std::int64_t kMean = std::int64_t{1} << 60;  // a place where no node is
  const double z0 = normal_at(seed, kMean), z1 = normal_at(seed, kMean + 1);
  const double shift[2] = {r00 * z0, r10 * z0 + r11 * z1};
  for (Index b = 0; b < mean.count; ++b) f.beta_[b] = mean.beta[static_cast<std::size_t>(b)] + shift[b];
  std::vector<double> spread(static_cast<std::size_t>(weights.count));
  for (std::size_t p = 0; p < weights.parts.size(); ++p) {
    f.parts_[p].seed = seed + (p << 48U);
    for (const GaussianGrid::Run& run : weights.parts[p].runs) {
      for (Index j = 0; j < run.length(); ++j)
        spread[static_cast<std::size_t>(weights.parts[p].first + run.number + j)] =
            normal_at(f.parts_[p].seed, static_cast<std::int64_t>(run.begin) + j);
    }
  }
  constexpr std::uint64_t kNoise = 0x2545f4914f6cdd1dU;
  representation().draw_weights(spread, seed + kNoise);
  for (std::size_t p = 0; p < weights.parts.size(); ++p) {
    for (const GaussianGrid::Run& run : weights.parts[p].runs) {
      for (Index j = 0; j < run.length(); ++j) {
        const Index number = weights.parts[p].first + run.number + j;
        const double* w = solved.data + weights.offset + number;
        double v = spread[static_cast<std::size_t>(number)] + w[0];
        for (Index b = 0; b < mean.count; ++b) v -= shift[b] * w[(b + 1) * solved.stride];
        f.parts_[p].weights.push_back(v);
      }
    }
  }
}

std::vector<double> Posterior::covariance(std::span<const double> times) {
  const double bytes = 16.0 * static_cast<double>(times.size()) * static_cast<double>(times.size());
  if (bytes > default_max_bytes())
    throw std::invalid_argument(
        fmt::format("the covariance of {} times would take {:.0f} GB of memory: ask for fewer", times.size(),
                    bytes / 1e9));
  const SortedTimes tests(times, series_->units);
  factor();
  const std::size_t m = tests.x.size();
  std::vector<double> sorted(m * m), projection;
  representation().covariance(tests.x, sorted.data());
  project(tests.x, Representation::kAllTerms, projection, nullptr);
  const ColumnWeights& weights = column_weights();
  const auto columns = static_cast<std::size_t>(weights.count);
  std::vector<double> u(m * columns);  // h* − (A⁻¹H)ᵀk*, one row a test
  for (std::size_t t = 0; t < m; ++t) {
    for (std::size_t c = 0; c < columns; ++c)
      u[t * columns + c] =
          global_columns().value(static_cast<Index>(c), tests.x[t]) - projection[(c + 1) * m + t];
  }
  const double square = series_->units.value_unit * series_->units.value_unit;
  std::vector<double> result(m * m);
  for (std::size_t s = 0; s < m; ++s) {
    for (std::size_t t = 0; t <= s; ++t) {
      const double extra = weights.product(u.data() + s * columns, u.data() + t * columns);
      const double covariance = square * (0.5 * (sorted[s * m + t] + sorted[t * m + s]) + extra);
      result[tests.order[s] * m + tests.order[t]] = covariance;
      result[tests.order[t] * m + tests.order[s]] = covariance;
    }
  }
  return result;
}

std::vector<double> Posterior::sample(std::span<const double> times, Index count, std::uint64_t seed,
                                      const Drawn& drawn) {
  if (has_functions()) {
    std::vector<double> draws;
    for (const PosteriorFunction& f : functions(count, seed, drawn)) {
      const std::vector<double> values = f(times);
      draws.insert(draws.end(), values.begin(), values.end());
    }
    return draws;
  }
  if (simulates_prior()) {
    (void)SortedTimes(times, series_->units);  // throws before anything is changed
    factor();
    factored_ = false;  // the columns are reduced again, for the draws alone
    if (evaluator_->reduce_again()) return draws_from_simulation(times, count, seed, drawn);
  }
  return draws_from_covariance(times, count, seed);
}

/// Matheron's rule: with a draw (f, f*) of the prior and ε of the noise, f* plus the posterior mean that the
/// observations y − f − ε would have is a draw of the posterior, the uncertainty of the mean's coefficients
/// included.                                                                                     [math.md §9]
std::vector<double> Posterior::draws_from_simulation(std::span<const double> times, Index count,
                                                     std::uint64_t seed, const Drawn& drawn) {
  constexpr std::uint64_t kCurve = 0x2545f4914f6cdd1dU, kNoise = 0x9e3779b97f4a7c15U;
  const SortedTimes tests(times, series_->units);
  const std::size_t m = tests.x.size(), n = static_cast<std::size_t>(series_->size());
  const Observations& points = evaluator_->observations();
  const Kernel kernel = to_internal(model_, series_->units).kernel;
  std::vector<double> joint(points.time(), points.time() + n);
  joint.insert(joint.end(), tests.x.begin(), tests.x.end());
  std::vector<double> draws(static_cast<std::size_t>(count) * m);
  for (Index k = 0; k < count; ++k) {
    const std::uint64_t own = seed * kCurve + static_cast<std::uint64_t>(k);
    const std::vector<double> prior = simulate(kernel, 0, joint, own);
    AlignedBuffer memory;
    const RightHandSides b = evaluator_->more_columns(memory, 1);
    for (std::size_t i = 0; i < n; ++i) {
      const double noise =
          std::sqrt(points.noise()[i]) * normal_at(own + kNoise, static_cast<std::int64_t>(i));
      b.data[i] = points.value()[i] - prior[i] - noise;
    }
    const std::vector<double> moved = evaluator_->posterior_mean(b, tests.x);
    for (std::size_t t = 0; t < m; ++t)
      draws[static_cast<std::size_t>(k) * m + tests.order[t]] =
          series_->units.value_out(prior[n + t] + moved[t]);
    if (drawn) drawn(k + 1);
  }
  evaluator_->finish();  // predictions go on with the columns of the data
  factored_ = true;
  return draws;
}

std::vector<double> Posterior::draws_from_covariance(std::span<const double> times, Index count,
                                                     std::uint64_t seed) {
  // A smooth curve's covariance is singular to rounding: P Σ Pᵀ = L D Lᵀ with pivoting finds its numerical
  // rank, and pivots below rounding (of either sign) draw nothing.  No jitter.
  const std::vector<double> covariance = this->covariance(times);
  const std::vector<double> mean = predict(times, false).mean;
  const auto m = static_cast<Eigen::Index>(times.size());
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::LDLT<Eigen::MatrixXd> ldlt(Eigen::Map<const RowMajor>(covariance.data(), m, m));
  const Eigen::VectorXd pivots = ldlt.vectorD();
  const double rounding =
      static_cast<double>(m) * std::numeric_limits<double>::epsilon() * pivots.cwiseAbs().maxCoeff();
  const Eigen::VectorXd root = (pivots.array() > rounding).select(pivots, 0.0).cwiseSqrt();
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> draws(static_cast<std::size_t>(count * m));
  for (Index s = 0; s < count; ++s) {
    Eigen::VectorXd z(m);
    for (Eigen::Index i = 0; i < m; ++i) z[i] = root[i] * normal(generator);
    const Eigen::VectorXd path = ldlt.transpositionsP().transpose() * (ldlt.matrixL() * z);
    for (Eigen::Index i = 0; i < m; ++i) {
      draws[static_cast<std::size_t>(s * m + i)] = mean[static_cast<std::size_t>(i)] + path[i];
    }
  }
  return draws;
}

std::vector<double> Posterior::whitened_residuals(std::uint64_t seed) {
  if (!evaluator_) throw std::invalid_argument("residuals need the data, which this model was saved without");
  factor();
  return evaluator_->whitened(seed);
}

const LeaveOneOut& Posterior::leave_one_out() {
  if (left_out_) return *left_out_;
  if (!evaluator_)
    throw std::invalid_argument("leave-one-out needs the data, which this model was saved without");
  factor();
  const RightHandSides solved = evaluator_->columns();
  const Index n = series_->size();
  std::vector<double> diagonal(static_cast<std::size_t>(n));
  evaluator_->representation().inverse_diagonal(diagonal);
  factored_ = false;
  const ColumnWeights& weights = evaluator_->column_weights();
  const Observations& points = evaluator_->observations();
  const Units& units = series_->units;
  const double noise = to_internal(model_, units).noise, square = units.value_unit * units.value_unit;
  LeaveOneOut result;
  result.mean.resize(series_->value.size());
  result.variance.resize(series_->value.size());
  std::vector<double> h(static_cast<std::size_t>(weights.count));
  std::vector<Precision> later;
  for (Index i = 0; i < n; ++i) {
    // Q = A⁻¹ − A⁻¹H M⁻¹ HᵀA⁻¹: without point i the curve there is ȳ − αᵢ/Qᵢᵢ with variance 1/Qᵢᵢ − dᵢ.
    for (Index c = 0; c < weights.count; ++c)
      h[static_cast<std::size_t>(c)] = solved.data[(c + 1) * solved.stride + i];
    const double q = diagonal[static_cast<std::size_t>(i)] - weights.product(h.data(), h.data());
    const double d = points.noise()[i];
    const double mean = points.value()[i] - solved.data[i] / q;
    const double latent = std::max(0.0, 1 / q - d);
    const Index from = series_->has_ties() ? series_->group[static_cast<std::size_t>(i)] : i;
    const Index to = series_->has_ties() ? series_->group[static_cast<std::size_t>(i) + 1] : i + 1;
    const auto own = [&](Index j) {
      return noise + (series_->variance.empty() ? 0 : series_->variance[static_cast<std::size_t>(j)]);
    };
    const auto precision = [&](Index j) {
      return Precision{1 / own(j), (series_->value[static_cast<std::size_t>(j)] - mean) / own(j)};
    };
    // The other observations of the same time come back in as one.  Their sums are those of the earlier ones
    // plus those of the later ones: no observation's own share is taken off again, and the work is linear.
    later.assign(static_cast<std::size_t>(to - from) + 1, Precision{});
    for (Index j = to - 1; j > from; --j)
      later[static_cast<std::size_t>(j - from)] =
          later[static_cast<std::size_t>(j - from) + 1] + precision(j);
    Precision earlier;
    for (Index j = from; j < to; ++j) {
      const Precision others = earlier + later[static_cast<std::size_t>(j - from) + 1];
      const double gain = latent / (1 + latent * others.total);
      result.mean[static_cast<std::size_t>(j)] = units.value_out(mean + gain * others.weighted);
      result.variance[static_cast<std::size_t>(j)] = square * (gain + own(j));
      earlier = earlier + precision(j);
    }
  }
  left_out_ = std::move(result);
  return *left_out_;
}

}  // namespace bandgp
