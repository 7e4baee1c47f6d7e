// SPDX-License-Identifier: Apache-2.0
// Training: from a series to hyper-parameters, their standard errors and a certificate.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bandgp/base/guarded.hpp"
#include "bandgp/base/message.hpp"
#include "bandgp/gp/auto_representation.hpp"
#include "bandgp/gp/posterior.hpp"
#include "bandgp/series/table.hpp"

namespace bandgp {

enum class FitStatus {
  converged,
  at_bound,  // converged with a parameter at the edge of what is tried: it is not determined by the data
  stalled,   // no step improves the loss, and the gradient is not small
  rounding,  // what rounding may do to the loss, not the data, decides where training ends
  out_of_evaluations,
  cancelled,
  not_positive_definite,  // fixed bandwidth: too small at every θ tried
  too_large,              // the band would not fit into memory
};
std::string_view status_name(FitStatus status);

/// One evaluation during training, in the user's units.
struct TraceEntry {
  int evaluation;
  int stage;                       // 0 … : coarse to fine; the last stage is on all the data
  Index n;                         // points it looked at
  double nll;                      // ∞ where θ was rejected
  std::vector<double> parameters;  // in the order of parameter_names()
  Index bandwidth;
  double seconds;      // since the start
  std::string kernel;  // its shapes, "se + matern12": while a sum is looked for, kernels of fewer terms are
                       // trained.  Empty where an old file does not tell.
};

/// What the next stage would cost, told before it is spent.
struct CostEstimate {
  Index n, bandwidth;
  double bytes;  // of the matrix
  double seconds_per_evaluation;
  int evaluations;               // that training on all the data may take; 1 where there is no training
  double thin;                   // a spacing that would bring the band down to about 200, user's time units
  std::string what;              // What needs the memory: "a band of 300 neighbours".
  std::vector<Message> advice;   // how to do with less
  std::string_view method = {};  // what would be in use, as Likelihood::method
  std::vector<TermPlace> places = {};  // where every term is held
};

/// Evaluations on the whole series in the last stage of training this many parameters.  About three for each:
/// of 24 simulated fits 17 took between 0.7 and 1.4 times as many, the longest five times.
constexpr int expected_evaluations(int free) { return free > 0 ? 3 * free : 2; }

struct FitOptions {
  Kernel kernel = "se";             // values given in the text are starting values (user's units)
  std::optional<double> tolerance;  // nats of NLL: a shorthand for cut.tolerance
  Mean mean = Mean::constant;
  Cut cut;                             // reach in the user's units
  std::map<std::string, double> init;  // parameter name → starting value
  std::map<std::string, double> fix;   // parameter name → value that is not trained
  int max_evaluations = 200;           // on each stage
  bool coarse_to_fine = true;
  /// Whether exact, fitc, vfe, taper and vecchia look for a start by themselves, which takes them longest,
  /// instead of in the band or its dual: for comparisons of what training costs.
  bool own_search = false;
  bool standard_errors = true;
  double max_bytes = 0;  // of the band; 0: 60 % of the machine's memory
  Index threads = 1;     // 2 use two; results do not depend on it
  std::function<void(const TraceEntry&)> progress;
  std::function<bool(const CostEstimate&)>
      accept_cost;                  // asked when the last stage may take more than ~10 s; false cancels
  std::function<bool()> cancelled;  // asked before every evaluation
};

/// Where the series came from, as far as it is known.
struct Source {
  std::string file, time_name, value_name;
  Index bad_lines = 0;  // malformed lines that were skipped
};

struct FitResult {
  FitStatus status = FitStatus::stalled;
  std::string message;             // how training ended, one sentence in the library's words
  std::optional<Message> outcome;  // the same as a value; none in a result that was read from a file
  Model model;                     // user's units
  std::vector<double>
      standard_errors;  // parameter_names() order; NaN where fixed, at a bound or not asked for
  double nll = 0;
  std::vector<double> gradient;  // by log parameter
  std::vector<double> mean;      // coefficients: value at time 0, slope
  Certificate certificate;       // user's units
  std::string method = "band";   // the representation in use at the optimum
  Index bandwidth = 0;
  double reach = 0;  // user's units; 0: an index band
  double condition = 1;
  double rounding =
      0;  // about how many nats rounding adds to the certificate's error of the NLL; not a bound
  int evaluations = 0;  // all stages
  int rejected_not_positive_definite = 0, rejected_too_large = 0;
  double seconds = 0;
  std::vector<TraceEntry> trace;
  Cut cut;  // what a posterior uses to reproduce the fit (reach in the user's units)
  Source source;
  std::shared_ptr<const Series> series;
  std::string data_checksum;  // of the series a model file was made of (io/model_file.hpp); empty: not known
  std::shared_ptr<const DualState>
      dual;  // read from a file without the data (series has no points then): predicts
  /// The posterior that training ended with; empty until it is asked for in a result that was read from a
  /// file.  Copies share it.
  std::shared_ptr<Guarded<Posterior>> kept = std::make_shared<Guarded<Posterior>>();

  /// Certified, or of a model that has nothing to certify.
  bool certified() const { return certificate.holds() || certificate.other_model; }
  /// The message with options spelt in this way.
  std::string message_as(Spelling spelling) const { return outcome ? words(*outcome, spelling) : message; }
  /// What `use` makes of the posterior at the fitted parameters: the one that training ended with, factored,
  /// or one that is built at the first call and kept, with this many threads.  Other threads that ask the
  /// same result, or a copy of it, wait meanwhile; `use` must not come back to the result's posterior itself.
  template <typename Use>
  auto with_posterior(Use use, Index threads = 1) const {
    return kept->use([&] { return build_posterior(threads); }, use);
  }
  /// The same posterior, for one thread.
  std::shared_ptr<Posterior> posterior(Index threads = 1) const {
    return kept->get([&] { return build_posterior(threads); });
  }
  /// After a change of series, model or cut: another is built when it is asked for.
  void forget_posterior() { kept = std::make_shared<Guarded<Posterior>>(); }
  /// Mean and variances at these times.
  Prediction predict(std::span<const double> times) const {
    return with_posterior([&](Posterior& posterior) { return posterior.predict(times); });
  }

 private:
  std::shared_ptr<Posterior> build_posterior(Index threads) const;
};

/// Throws std::invalid_argument for a mistake in the options (unknown parameter name, value not positive, all
/// values equal).  The series must have been made with center = (mean != zero).
FitResult fit(const std::shared_ptr<const Series>& series, const FitOptions& options);
/// The same for a table as it was read: makes the series first.
FitResult fit(const Table& table, const FitOptions& options);

/// One evaluation at given parameters (user's units): the NLL, its gradient and the certificate, in the
/// user's units.
struct EvaluationResult {
  std::optional<Failure> failure;
  Likelihood likelihood;          // nll, gradient, certificate in the user's units
  double evaluation_seconds = 0;  // a second evaluation, memory being there (the first, if it was long)
  double rounding = 0;            // as in FitResult
};
EvaluationResult evaluate(const Series& series, const Model& model, const Cut& cut, double max_bytes = 0,
                          Index threads = 1);
/// What that will take, roughly, before it is spent.
CostEstimate estimate_cost(const Series& series, const Model& model, const Cut& cut, double max_bytes = 0);

}  // namespace bandgp
