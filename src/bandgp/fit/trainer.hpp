// SPDX-License-Identifier: Apache-2.0
// One training run: evaluations on less or more data, counted and traced.  fit.cpp says in which order.
#pragma once
#include <chrono>
#include <limits>

#include "bandgp/fit/differences.hpp"
#include "bandgp/fit/fit.hpp"
#include "bandgp/fit/parameters.hpp"
#include "bandgp/optimize/bfgs.hpp"

namespace bandgp {

/// A θ with its loss, and what the optimiser learned of the curvature there (in free logs).
struct Candidate {
  InternalModel model;
  double nll = std::numeric_limits<double>::infinity();
  std::vector<double> inverse_hessian;
  BfgsStatus status = BfgsStatus::stalled;
  std::size_t family = 0;  // starts of one origin, which compete with each other first
  bool doubtful = false;   // the exact gradient is, here or hereabouts
  bool profiled = false;   // the curvature is that of the loss at the best scale of the variances
  std::vector<double> difference_step;  // of gradients by differences, where there were any
};

/// A series (all of it or a part) with its evaluator.
class Stage {
 public:
  Stage(const Series& series, Mean mean, const InternalCut& cut, double max_bytes, Index threads, int number);
  const Series& series() const { return evaluator_->series(); }
  Evaluator& evaluator() { return *evaluator_; }
  Representation& representation() { return evaluator_->representation(); }
  /// For the posterior; the stage is of no use afterwards.
  std::unique_ptr<Evaluator> take_evaluator() { return std::move(evaluator_); }
  const InternalCut& cut() const { return cut_; }
  int number() const { return number_; }
  /// A part of the series with an evaluator of its own, of the same number in the trace: what is looked for
  /// in many places is looked for there first.  None where the series is short.
  Stage* part() { return part_.get(); }
  void add_part(std::unique_ptr<Stage> part) { part_ = std::move(part); }

 private:
  InternalCut cut_;
  std::unique_ptr<Evaluator> evaluator_;
  int number_;
  std::unique_ptr<Stage> part_;
};

class Trainer {
 public:
  Trainer(const FitOptions& options, FitResult& result);

  /// The loss at θ, counted and traced; ∞ where it is rejected.
  double evaluate(Stage& stage, const InternalModel& model, bool with_gradient, Likelihood& out);
  /// The loss at θ with all variances multiplied by the factor that suits the data best, which follows from
  /// the quadratic form; the model becomes that one.  For scales that are free.
  double evaluate_profiled(Stage& stage, InternalModel& model, Likelihood& out);
  /// Whether all variances may be multiplied by a common factor, and the loss then follows from one
  /// evaluation.
  bool scale_is_free(const Stage& stage, const Parameters& parameters) const;
  /// BFGS from a start.
  Candidate descend(Stage& stage, const Parameters& parameters, const Candidate& start, double step_tolerance,
                    int max_evaluations);
  /// The loss at a start; where `profile`, at the best scale of its variances: a start needs only the right
  /// shape.
  Candidate look_at(Stage& stage, const Parameters& parameters, const InternalModel& start, bool profile);
  /// BFGS from all starts at once, some evaluations at a time; after each round the best are kept, and of
  /// those that have come to the same place only one.  Sums need it: a start with a negligible term looks as
  /// good as the smaller model does, and judged by their starts 22 of 137 simulated fits of two terms ended
  /// in a worse optimum than from the truth, judged after a dozen evaluations 1.
  struct Round {
    int evaluations;            // of each start
    std::size_t keep;           // starts that stay afterwards
    std::size_t of_family = 0;  // and at least so many of each family: one that starts worse may end better
  };
  /// Returns those that are kept after the last round, the best first.
  std::vector<Candidate> race(Stage& stage, const Parameters& parameters, std::vector<Candidate> starts,
                              std::span<const Round> rounds);

  /// A θ found on part of the series may have no value on all of it, where a fixed band is too narrow: walks
  /// from it towards shorter length-scales and more noise (the paper's advice) until there is one.
  void retreat(Stage& stage, const Parameters& parameters, Candidate& candidate);

  /// For each free parameter, whether it stays clear of the box that training is kept in.
  std::vector<bool> inside_box(const Stage& stage, const Parameters& parameters,
                               const InternalModel& model) const;

  /// The least memory that a θ was refused for, bytes.
  double smallest_refused() const { return smallest_refused_; }
  /// Whether what is evaluated is the likelihood of the GP, and not a loss with other terms besides.
  bool exact_model() const { return is_same_model(options_.cut.method) || !options_.own_search; }
  bool cancelled() const { return options_.cancelled && options_.cancelled(); }
  double seconds() const;

 private:
  const FitOptions& options_;
  FitResult& result_;
  double smallest_refused_ = std::numeric_limits<double>::infinity();
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace bandgp
