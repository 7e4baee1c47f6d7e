// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "bandgp/base/dot.hpp"

namespace bandgp {

namespace {

GlobalColumns columns_over(const Series& series, Mean mean) {
  if (series.size() < 2) return GlobalColumns(mean, 0, 1);
  const double half_span = 0.5 * (series.time.back() - series.time.front());
  return GlobalColumns(mean, series.time.front() + half_span, half_span);
}

}  // namespace

Evaluator::Evaluator(const Series& series, Mean mean, std::unique_ptr<Representation> representation)
    : series_(series),
      representation_(std::move(representation)),
      observations_(series),
      global_(columns_over(series, mean)) {}

void Evaluator::load_columns() {
  const Index reduced = round_up(std::max(observations_.padded_size(), representation_->reduced_size()), 8);
  stride_ = reduced + round_up(representation_->carried_size(), 8);
  reduced_ = reduced;
  columns_.reserve(stride_ * columns().columns);
  double* y = columns_.data();
  std::fill_n(y, stride_ * columns().columns, 0.0);
  std::copy_n(observations_.value(), observations_.size(), y);
  for (Index c = 0; c < global_.count(); ++c) {
    double* column = y + (c + 1) * stride_;
    for (Index i = 0; i < observations_.size(); ++i) column[i] = global_.value(c, observations_.time()[i]);
  }
}

RightHandSides Evaluator::more_columns(AlignedBuffer& memory, Index count) const {
  memory.reserve(stride_ * count);
  std::fill_n(memory.data(), stride_ * count, 0.0);
  return {memory.data(), count, stride_};
}

bool Evaluator::reduce_again() {
  load_columns();
  finished_ = false;
  if (!representation_->reduce(columns())) return false;
  weigh();
  return true;
}

std::vector<double> Evaluator::posterior_mean(RightHandSides value, std::span<const double> x) {
  (void)representation_->reduce(value);
  const auto count = static_cast<std::size_t>(weights_.count);
  std::vector<double> products(count), beta(count), result(x.size());
  const auto column = [&](std::size_t c) { return columns_.data() + (static_cast<Index>(c) + 1) * stride_; };
  for (std::size_t c = 0; c < count; ++c)
    products[c] = representation_->product(column(c), value.data, reduced_);
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t other = 0; other < count; ++other)
      beta[c] += weights_.entry(static_cast<Index>(c), static_cast<Index>(other)) * products[other];
    for (Index i = 0; i < stride_; ++i) value.data[i] -= beta[c] * column(c)[i];
  }
  representation_->finish(value);
  (void)representation_->predict(x, Representation::kAllTerms, value, result.data(), nullptr);
  for (std::size_t t = 0; t < x.size(); ++t) {
    for (std::size_t c = 0; c < count; ++c) result[t] += global_.value(static_cast<Index>(c), x[t]) * beta[c];
  }
  return result;
}

/// β, then y ← y − Hβ in the reduced columns: its square is q, which does not cancel.
void Evaluator::weigh() {
  double* y = columns_.data();
  weigh_columns(
      global_.count(),
      [&](Index a, Index b) { return representation_->product(y + a * stride_, y + b * stride_, reduced_); },
      weights_);
  for (Index c = 0; c < weights_.count; ++c) {
    const double* column = y + (c + 1) * stride_;
    const double coefficient = weights_.beta[static_cast<std::size_t>(c)];
    for (Index i = 0; i < stride_; ++i) y[i] -= coefficient * column[i];
  }
}

double Evaluator::move_to(const InternalModel& model) {
  kernel_ = model.kernel;
  observations_.at(model.noise);
  return observations_.noise_weighted_square(mean() != Mean::zero);
}

Cost Evaluator::cost(const InternalModel& model) {
  const double q_bound = move_to(model);
  Cost cost = representation_->cost(kernel_, observations_, q_bound);
  if (cost.method.empty()) cost.method = representation_->name();
  return cost;
}

/// Choices of what to leave out at one θ, the first for data that the model fits.
constexpr int kMostChoices = 3;

std::optional<Failure> Evaluator::evaluate(const InternalModel& model, bool with_gradient, Likelihood& out) {
  const double q_bound = move_to(model);
  CertificateInputs inputs{.n = observations_.size(), .prior_variance = kernel_.variance()};
  double* y = nullptr;
  for (int attempt = 0; attempt == 0 || (attempt < kMostChoices && representation_->choose_again(inputs));
       ++attempt) {
    if (auto failure = representation_->choose(kernel_, observations_, q_bound)) return failure;
    load_columns();
    finished_ = false;
    ++factorizations_;
    if (auto failure = representation_->factor(columns())) return failure;
    weigh();
    y = columns_.data();
    const double* w = y + observations_.padded_size();
    inputs.q = representation_->product(y, y, reduced_);
    inputs.weights = std::inner_product(w, w + representation_->basis_size(), w, 0.0);
  }

  const auto n = static_cast<double>(observations_.size());
  out.q = inputs.q;
  out.log_determinant = representation_->log_determinant();
  out.nll = 0.5 * (out.q + out.log_determinant + n * std::log(2 * std::numbers::pi)) +
            observations_.within() + representation_->extra_loss();
  out.coefficients = weights_.beta;
  out.method = representation_->name();
  out.bandwidth = representation_->bandwidth();
  out.reach = representation_->reach();
  out.condition = representation_->condition();

  inputs.mean_estimated = weights_.count > 0;
  const double* time = observations_.time();
  inputs.mean_variance = largest_variance(weights_, global_, time[0], time[observations_.size() - 1]);
  out.certificate = representation_->certificate(inputs);

  if (with_gradient) {
    out.gradient.resize(kernel_.parameter_count() + 1);
    representation_->gradient({y, 1, stride_}, observations_.noise_slope(), out.gradient);  // y becomes α
    double& by_noise = out.gradient.back();
    if (const double* slope = observations_.value_slope()) {
      by_noise += dot(y, slope, observations_.padded_size()) + observations_.within_slope();
    }
    by_noise *= model.noise;  // ∂/∂log σₙ²
  }
  return std::nullopt;
}

void Evaluator::finish() {
  if (finished_) return;
  kept_.reserve(stride_);
  std::copy_n(columns_.data(), stride_, kept_.data());
  representation_->finish(columns());
  finished_ = true;
}

AlignedBuffer Evaluator::reduced_data() const {
  AlignedBuffer copy;
  copy.reserve(stride_);
  std::copy_n(finished_ ? kept_.data() : columns_.data(), stride_, copy.data());
  return copy;
}

double Evaluator::rounding() {
  AlignedBuffer residual;  // y − Hβ
  residual.reserve(observations_.padded_size());
  std::fill_n(residual.data(), observations_.padded_size(), 0.0);
  for (Index i = 0; i < observations_.size(); ++i) {
    residual.data()[i] = observations_.value()[i];
    for (Index c = 0; c < weights_.count; ++c)
      residual.data()[i] -=
          weights_.beta[static_cast<std::size_t>(c)] * global_.value(c, observations_.time()[i]);
  }
  AlignedBuffer reduced = reduced_data();
  return representation_->rounding(reduced.data(), residual.data());
}

std::vector<double> Evaluator::whitened(std::uint64_t seed) {
  AlignedBuffer reduced = reduced_data();
  representation_->whiten(reduced.data(), seed);
  return {reduced.data(), reduced.data() + observations_.size()};
}

std::vector<double> mean_in_user_units(const std::vector<double>& beta, const Units& units,
                                       const GlobalColumns& columns) {
  if (beta.empty()) return {};
  if (beta.size() == 1) return {units.value_out(beta[0])};
  const double at_origin = units.value_out(beta[0] - beta[1] * columns.middle() / columns.half_span());
  const double slope = units.value_unit * beta[1] / columns.half_span() / units.time_unit;
  return {at_origin - slope * units.time_origin, slope};
}

double nll_to_user(double nll, const Series& series) {
  return nll + static_cast<double>(series.observations()) * std::log(series.units.value_unit);
}

}  // namespace bandgp
