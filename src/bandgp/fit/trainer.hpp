// SPDX-License-Identifier: Apache-2.0
// One training run: evaluations on less or more data, counted and traced.  fit.cpp says in which order.
#pragma once
#include <chrono>
#include <limits>

#include "bandgp/fit/fit.hpp"
#include "bandgp/fit/parameters.hpp"
#include "bandgp/optimize/bfgs.hpp"

namespace bandgp {

/// A θ with its loss, and what the optimiser learned of the curvature there (in free logs).
struct Candidate {
  Model model;
  double nll = std::numeric_limits<double>::infinity();
  std::vector<double> inverse_hessian;
  BfgsStatus status = BfgsStatus::stalled;
};

/// A series (all of it or a part) with its evaluator.
class Stage {
 public:
  Stage(const Series& series, Mean mean, const Cut& cut, double max_bytes, Index threads, int number);
  const Series& series() const { return evaluator_->series(); }
  Evaluator& evaluator() { return *evaluator_; }
  Representation& representation() { return evaluator_->representation(); }
  /// For the posterior; the stage is of no use afterwards.
  std::unique_ptr<Evaluator> take_evaluator() { return std::move(evaluator_); }
  int number() const { return number_; }

 private:
  std::unique_ptr<Evaluator> evaluator_;
  int number_;
};

class Trainer {
 public:
  Trainer(const FitOptions& options, FitResult& result);

  /// The loss at θ, counted and traced; ∞ where it is rejected.
  double evaluate(Stage& stage, const Model& model, bool with_gradient, Likelihood& out);
  /// BFGS from a start.
  Candidate descend(Stage& stage, const Parameters& parameters, const Candidate& start, double step_tolerance,
                    int max_evaluations);
  /// The best of BFGS runs from the `tries` best starts, judged by their loss after `head_start` evaluations
  /// of BFGS (0: as they are).  Sums need it: a start with a negligible term looks as good as the smaller
  /// model does, and without it 22 of 137 simulated fits of two terms ended in a worse optimum than from the
  /// truth, with it 1.
  Candidate best_of(Stage& stage, const Parameters& parameters, std::vector<Model> starts, std::size_t tries,
                    int head_start);

  /// A θ found on part of the series may have no value on all of it, where a fixed band is too narrow: walks
  /// from it towards shorter length-scales and more noise (the paper's advice) until there is one.
  void retreat(Stage& stage, const Parameters& parameters, Candidate& candidate);

  /// For each free parameter, whether it stays clear of the box that training is kept in.
  std::vector<bool> inside_box(const Stage& stage, const Parameters& parameters, const Model& model) const;

  /// The least memory that a θ was refused for, bytes.
  double smallest_refused() const { return smallest_refused_; }
  bool cancelled() const { return options_.cancelled && options_.cancelled(); }
  double seconds() const;

 private:
  const FitOptions& options_;
  FitResult& result_;
  double smallest_refused_ = std::numeric_limits<double>::infinity();
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace bandgp
