// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/trace_blocks.hpp"

#include <algorithm>
#include <cmath>

#include "bandgp/io/base64.hpp"

namespace bandgp {
namespace {

/// Terms of the kernel that an evaluation was about: sums start from fits with fewer.
Index terms_of(const TraceEntry& entry) { return (std::ssize(entry.parameters) - 1) / 2; }

bool never_decreases(const auto& values) { return std::ranges::is_sorted(values); }

}  // namespace

nlohmann::ordered_json trace_to_json(const std::vector<TraceEntry>& trace) {
  const std::size_t first = trace.size() > kMostTraceEntries ? trace.size() - kMostTraceEntries : 0;
  std::vector<Index> evaluation, stage, n, bandwidth, terms;
  std::vector<double> nll, seconds, parameters;
  for (std::size_t i = first; i < trace.size(); ++i) {
    const TraceEntry& entry = trace[i];
    evaluation.push_back(entry.evaluation);
    stage.push_back(entry.stage);
    n.push_back(entry.n);
    bandwidth.push_back(entry.bandwidth);
    terms.push_back(terms_of(entry));
    nll.push_back(entry.nll);
    seconds.push_back(entry.seconds);
    parameters.insert(parameters.end(), entry.parameters.begin(), entry.parameters.end());
  }
  return {{"evaluation", to_base64(evaluation)},
          {"stage", to_base64(stage)},
          {"n", to_base64(n)},
          {"nll", to_base64(nll)},
          {"bandwidth", to_base64(bandwidth)},
          {"seconds", to_base64(seconds)},
          {"terms", to_base64(terms)},
          {"parameters", to_base64(parameters)}};
}

std::vector<TraceEntry> trace_from_json(const json::Fields& fields, const Kernel& kernel) {
  using json::require;
  constexpr Index kMostEvaluations = std::numeric_limits<int>::max();
  const auto indices = [&](const char* key) { return fields.block(key, indices_from_base64); };
  const auto doubles = [&](const char* key) { return fields.block(key, doubles_from_base64); };
  const std::vector<Index> evaluation = indices("evaluation"), stage = indices("stage"), n = indices("n"),
                           bandwidth = indices("bandwidth"), terms = indices("terms");
  const std::vector<double> nll = doubles("nll"), seconds = doubles("seconds"),
                            parameters = doubles("parameters");
  const std::size_t count = evaluation.size();
  require(count <= kMostTraceEntries, "trace has too many evaluations");
  for (const std::size_t size :
       {stage.size(), n.size(), bandwidth.size(), terms.size(), nll.size(), seconds.size()})
    require(size == count, "trace has blocks of different lengths");
  require(std::ranges::adjacent_find(evaluation, std::ranges::greater_equal{}) == evaluation.end() &&
              never_decreases(stage) && never_decreases(seconds),
          "trace does not go forward");
  const auto within = [](const std::vector<Index>& values, Index least, Index most) {
    return std::ranges::all_of(values, [=](Index v) { return v >= least && v <= most; });
  };
  require(within(evaluation, 1, kMostEvaluations) && within(stage, 0, kMostEvaluations) &&
              within(n, 1, json::kLargest) && within(bandwidth, 0, json::kLargest) &&
              within(terms, 1, std::ssize(kernel.terms)),
          "trace has counts that cannot be");
  require(std::ranges::none_of(nll, [](double v) { return std::isnan(v) || v < -1e300; }),
          "trace.nll is not a number");
  const auto not_negative = [](double v) { return std::isfinite(v) && v >= 0; };
  require(std::ranges::all_of(seconds, not_negative), "trace.seconds is negative or not finite");
  require(std::ranges::all_of(parameters, not_negative), "trace.parameters is negative or not finite");

  std::vector<TraceEntry> trace(count);
  auto next = parameters.begin();
  for (std::size_t i = 0; i < count; ++i) {
    const Index size = 2 * terms[i] + 1;
    require(parameters.end() - next >= size, "trace.parameters does not fit trace.terms");
    trace[i] = {static_cast<int>(evaluation[i]),
                static_cast<int>(stage[i]),
                n[i],
                nll[i],
                {next, next + size},
                bandwidth[i],
                seconds[i]};
    next += size;
  }
  require(next == parameters.end(), "trace.parameters does not fit trace.terms");
  return trace;
}

}  // namespace bandgp
