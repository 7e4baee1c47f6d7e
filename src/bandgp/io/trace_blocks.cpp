// SPDX-License-Identifier: Apache-2.0
#include "bandgp/io/trace_blocks.hpp"

#include <algorithm>
#include <cmath>

#include "bandgp/io/base64.hpp"

namespace bandgp {
namespace {

/// In files of version 1 every term had a variance and a length-scale.
constexpr Index kParametersOfTermV1 = 2;

bool never_decreases(const auto& values) { return std::ranges::is_sorted(values); }

}  // namespace

nlohmann::ordered_json trace_to_json(const std::vector<TraceEntry>& trace) {
  const std::size_t first = trace.size() > kMostTraceEntries ? trace.size() - kMostTraceEntries : 0;
  std::vector<Index> evaluation, stage, n, bandwidth, count, kernel;
  std::vector<std::string> kernels;  // all that occur
  std::vector<double> nll, seconds, parameters;
  for (std::size_t i = first; i < trace.size(); ++i) {
    const TraceEntry& entry = trace[i];
    evaluation.push_back(entry.evaluation);
    stage.push_back(entry.stage);
    n.push_back(entry.n);
    bandwidth.push_back(entry.bandwidth);
    count.push_back(std::ssize(entry.parameters));
    const auto at = std::ranges::find(kernels, entry.kernel);
    kernel.push_back(at - kernels.begin());
    if (at == kernels.end()) kernels.push_back(entry.kernel);
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
          {"kernels", kernels},
          {"kernel", to_base64(kernel)},
          {"count", to_base64(count)},
          {"parameters", to_base64(parameters)}};
}

namespace {

/// Of each entry: the kernel it was about, where that is known, and how many parameters it has.
struct Subjects {
  std::vector<std::string> kernel;
  std::vector<Index> count;
};

Subjects read_subjects(const json::Fields& fields, std::size_t entries) {
  using json::require;
  const std::vector<std::string> kernels = fields.texts("kernels");
  std::vector<Index> counts;  // 0: not known
  counts.reserve(kernels.size());
  for (const std::string& text : kernels)
    counts.push_back(text.empty() ? 0 : std::ssize(parameter_names(parse_kernel(text))));
  const std::vector<Index> kernel = fields.block("kernel", indices_from_base64);
  Subjects subjects{{}, fields.block("count", indices_from_base64)};
  require(kernel.size() == entries && subjects.count.size() == entries,
          "trace has blocks of different lengths");
  for (std::size_t i = 0; i < entries; ++i) {
    require(kernel[i] >= 0 && kernel[i] < std::ssize(kernels), "trace.kernel does not fit trace.kernels");
    const auto at = static_cast<std::size_t>(kernel[i]);
    require(counts[at] == 0 || counts[at] == subjects.count[i], "trace.count does not fit trace.kernels");
    subjects.kernel.push_back(kernels[at]);
  }
  return subjects;
}

/// Version 1 told how many terms there were, but not which of the model's.
Subjects read_subjects_v1(const json::Fields& fields, std::size_t entries, const Kernel& kernel) {
  using json::require;
  const std::vector<Index> terms = fields.block("terms", indices_from_base64);
  require(terms.size() == entries, "trace has blocks of different lengths");
  Subjects subjects;
  for (const Index count : terms) {
    require(count >= 1 && count <= std::ssize(kernel.terms), "trace has counts that cannot be");
    subjects.kernel.push_back(count == std::ssize(kernel.terms) ? shapes_text(kernel) : "");
    subjects.count.push_back(kParametersOfTermV1 * count + 1);
  }
  return subjects;
}

}  // namespace

std::vector<TraceEntry> trace_from_json(const json::Fields& fields, const Kernel& kernel, Index version) {
  using json::require;
  constexpr Index kMostEvaluations = std::numeric_limits<int>::max();
  const auto indices = [&](const char* key) { return fields.block(key, indices_from_base64); };
  const auto doubles = [&](const char* key) { return fields.block(key, doubles_from_base64); };
  const std::vector<Index> evaluation = indices("evaluation"), stage = indices("stage"), n = indices("n"),
                           bandwidth = indices("bandwidth");
  const std::vector<double> nll = doubles("nll"), seconds = doubles("seconds"),
                            parameters = doubles("parameters");
  const std::size_t count = evaluation.size();
  require(count <= kMostTraceEntries, "trace has too many evaluations");
  for (const std::size_t size : {stage.size(), n.size(), bandwidth.size(), nll.size(), seconds.size()})
    require(size == count, "trace has blocks of different lengths");
  const Subjects subjects =
      version == 1 ? read_subjects_v1(fields, count, kernel) : read_subjects(fields, count);
  require(std::ranges::adjacent_find(evaluation, std::ranges::greater_equal{}) == evaluation.end() &&
              never_decreases(stage) && never_decreases(seconds),
          "trace does not go forward");
  const auto within = [](const std::vector<Index>& values, Index least, Index most) {
    return std::ranges::all_of(values, [=](Index v) { return v >= least && v <= most; });
  };
  require(within(evaluation, 1, kMostEvaluations) && within(stage, 0, kMostEvaluations) &&
              within(n, 1, json::kLargest) && within(bandwidth, 0, json::kLargest) &&
              within(subjects.count, 1, std::ssize(parameter_names(kernel))),
          "trace has counts that cannot be");
  require(std::ranges::none_of(nll, [](double v) { return std::isnan(v) || v < -1e300; }),
          "trace.nll is not a number");
  const auto not_negative = [](double v) { return std::isfinite(v) && v >= 0; };
  require(std::ranges::all_of(seconds, not_negative), "trace.seconds is negative or not finite");
  require(std::ranges::all_of(parameters, not_negative), "trace.parameters is negative or not finite");

  std::vector<TraceEntry> trace(count);
  auto next = parameters.begin();
  for (std::size_t i = 0; i < count; ++i) {
    const Index size = subjects.count[i];
    require(parameters.end() - next >= size, "trace.parameters does not fit trace.count");
    trace[i] = {static_cast<int>(evaluation[i]),
                static_cast<int>(stage[i]),
                n[i],
                nll[i],
                {next, next + size},
                bandwidth[i],
                seconds[i],
                subjects.kernel[i]};
    next += size;
  }
  require(next == parameters.end(), "trace.parameters does not fit trace.count");
  return trace;
}

}  // namespace bandgp
