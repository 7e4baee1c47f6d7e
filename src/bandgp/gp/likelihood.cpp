// SPDX-License-Identifier: Apache-2.0
#include "bandgp/gp/likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bandgp/base/dot.hpp"

namespace bandgp {

Evaluator::Evaluator(const Series& series, Mean mean, std::unique_ptr<Representation> representation)
    : series_(series), mean_(mean), representation_(std::move(representation)), observations_(series) {
  if (series.size() > 1) {
    half_span_ = 0.5 * (series.time.back() - series.time.front());
    middle_ = series.time.front() + half_span_;
  }
}

void Evaluator::load_columns() {
  stride_ = round_up(std::max(observations_.padded_size(), representation_->reduced_size()), 8);
  columns_.reserve(stride_ * columns().columns);
  double* y = columns_.data();
  std::fill_n(y, stride_ * columns().columns, 0.0);
  std::copy_n(observations_.value(), observations_.size(), y);
  for (Index c = 0; c < coefficient_count(mean_); ++c) {
    double* h = y + (c + 1) * stride_;
    for (Index i = 0; i < observations_.size(); ++i) h[i] = basis(c, observations_.time()[i]);
  }
}

/// β by generalised least squares, then y ← y − Hβ in the reduced columns: q is its square, which does not
/// cancel.
void Evaluator::profile() {
  profiled_ = profile_mean(columns());
  double* y = columns_.data();
  for (Index c = 0; c < profiled_.count; ++c) {
    const double* h = y + (c + 1) * stride_;
    const double coefficient = profiled_.beta[static_cast<std::size_t>(c)];
    for (Index i = 0; i < stride_; ++i) y[i] -= coefficient * h[i];
  }
}

std::optional<Failure> Evaluator::evaluate(const Model& model, bool with_gradient, Likelihood& out) {
  kernel_ = model.kernel;
  observations_.at(model.noise);
  const double q_bound = observations_.noise_weighted_square(mean_ != Mean::zero);
  if (auto failure = representation_->choose(kernel_, observations_, q_bound)) return failure;
  load_columns();
  if (auto failure = representation_->factor(columns())) return failure;
  profile();

  double* y = columns_.data();
  const double* w =
      y + observations_.padded_size();  // behind the points: a basis's weights, if there are any
  const auto n = static_cast<double>(observations_.size());
  out.q = dot(y, y, stride_);
  out.log_determinant = representation_->log_determinant();
  out.nll = 0.5 * (out.q + out.log_determinant + n * std::log(2 * std::numbers::pi)) +
            observations_.within() + representation_->extra_loss();
  out.coefficients = profiled_.beta;
  out.method = representation_->name();
  out.bandwidth = representation_->bandwidth();
  out.reach = representation_->reach();
  out.condition = representation_->condition();

  out.certificate = representation_->certificate({.n = observations_.size(),
                                                  .q = out.q,
                                                  .weights = dot(w, w, stride_ - observations_.padded_size()),
                                                  .prior_variance = kernel_.variance(),
                                                  .mean_estimated = profiled_.count > 0,
                                                  .mean_variance = profiled_.largest_variance});

  if (with_gradient) {
    out.gradient.resize(kernel_.parameter_count() + 1);
    representation_->gradient(y, observations_.noise_slope(), out.gradient);  // y becomes α
    double& by_noise = out.gradient.back();
    if (const double* slope = observations_.value_slope()) {
      by_noise += dot(y, slope, observations_.padded_size()) + observations_.within_slope();
    }
    by_noise *= model.noise;  // ∂/∂log σₙ²
  }
  return std::nullopt;
}

double Evaluator::rounding() {
  AlignedBuffer residual;  // y − Hβ
  residual.reserve(observations_.padded_size());
  std::fill_n(residual.data(), observations_.padded_size(), 0.0);
  for (Index i = 0; i < observations_.size(); ++i) {
    residual.data()[i] = observations_.value()[i];
    for (Index c = 0; c < profiled_.count; ++c)
      residual.data()[i] -= profiled_.beta[static_cast<std::size_t>(c)] * basis(c, observations_.time()[i]);
  }
  return representation_->rounding(columns_.data(), residual.data());
}

std::vector<double> Evaluator::whitened(std::uint64_t seed) {
  representation_->whiten(columns_.data(), seed);
  return {columns_.data(), columns_.data() + observations_.size()};
}

std::vector<double> Evaluator::mean_in_user_units(const std::array<double, 2>& coefficients) const {
  ProfiledMean mean;
  mean.count = coefficient_count(mean_);
  mean.beta = coefficients;
  return bandgp::mean_in_user_units(mean, series_.units, middle_, half_span_);
}

std::vector<double> mean_in_user_units(const ProfiledMean& mean, const Units& units, double middle,
                                       double half_span) {
  const auto& beta = mean.beta;
  if (mean.count == 0) return {};
  if (mean.count == 1) return {units.value_out(beta[0])};
  const double at_origin = units.value_out(beta[0] - beta[1] * middle / half_span);
  const double slope = units.value_unit * beta[1] / half_span / units.time_unit;
  return {at_origin - slope * units.time_origin, slope};
}

double nll_to_user(double nll, const Series& series) {
  return nll + static_cast<double>(series.observations()) * std::log(series.units.value_unit);
}

}  // namespace bandgp
