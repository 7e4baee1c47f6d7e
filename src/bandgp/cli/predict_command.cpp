// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/fit_output.hpp"
#include "bandgp/cli/progress.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/cli/style.hpp"
#include "bandgp/cli/text_stream.hpp"
#include "bandgp/cli/times.hpp"
#include "bandgp/io/model_file.hpp"

namespace bandgp::cli {
namespace {

struct PredictFlags {
  std::string model, x;
  Text at, grid, horizon, step, output, samples;
  bool components = false;
  CommonFlags common;
};

/// Where curves cannot be evaluated piece by piece, the covariance of all rows is factored: 4 s for so many.
constexpr Index kMostDenseRows = 2000;
/// More would fill any disk: 70 bytes a row.
constexpr Index kMostRows = 10'000'000'000;
/// Farther than this many length-scales outside the data, at most 1 % of the curve is known from them.
constexpr double kFar = 3;

using Columns = std::vector<std::vector<double>>;
constexpr std::size_t kAlways = 4;  // time, mean, std_latent, std_observed

/// Draws of the curve, the same from one piece of the rows to the next.
class Samples {
 public:
  Samples(Posterior& posterior, const Times& times, Index count, std::uint64_t seed, WorkProgress& progress)
      : count_(count) {
    if (count == 0) return;
    const auto drawn = [&](Index done) { progress.show(done, count); };
    if (posterior.has_functions()) {
      functions_ = posterior.functions(count, seed, drawn);
      return;
    }
    if (!posterior.samples_in_linear_time())
      require_few(times.size(), posterior.model().kernel, posterior.likelihood().method);
    rows_ = times.size();
    drawn_ = posterior.sample(times.slice(0, rows_), count, seed, drawn);
  }

  /// Refuses, before anything is computed, draws that are known to be impossible: of more curves than memory
  /// holds, or of more rows than a covariance can have.
  static void require_possible(Index count, const Times& times, const FitResult& fit) {
    if (count == 0) return;
    require_memory(count, times.size(), fit);
    const bool linear = std::ranges::all_of(fit.model.kernel.terms, [](const Term& term) {
      return has_states(term) || has_grid(term) || is_strictly_periodic(term);
    });
    if (!linear || fit.certificate.other_model) require_few(times.size(), fit.model.kernel, fit.method);
  }

  void append(std::span<const double> times, Index begin, Columns& columns) const {
    for (const PosteriorFunction& f : functions_) columns.push_back(f(times));
    for (Index s = 0; functions_.empty() && s < count_; ++s) {
      const auto from = drawn_.begin() + s * rows_ + begin;
      columns.emplace_back(from, from + static_cast<std::ptrdiff_t>(times.size()));
    }
  }

 private:
  static void require_few(Index rows, const Kernel& kernel, std::string_view method) {
    if (rows <= kMostDenseRows) return;
    const bool se = std::ranges::all_of(kernel.terms, has_basis);
    throw std::invalid_argument(fmt::format(
        "--samples {} needs the covariance of all rows at once: {} rows are too many, up to {} fit; {} no "
        "such "
        "limit",
        se ? fmt::format("of the method {}", method) : fmt::format("with the kernel {}", to_text(kernel)),
        rows, kMostDenseRows,
        se ? "fits by --method auto have" : "kernels of se, Matérn, sho and periodic terms have"));
  }

  /// A curve is held by its weights, 2.5 to a length-scale and some on either side of a point; or by all its
  /// rows.
  static void require_memory(Index count, Index rows, const FitResult& fit) {
    const SeriesReport& report = fit.series->report;
    const Kernel& kernel = fit.model.kernel;
    const bool curves = std::ranges::all_of(kernel.terms, has_basis);
    double held = curves ? 0.0 : static_cast<double>(rows);
    for (const Term& term : kernel.terms) {
      if (curves) held += 64 + 2.5 * report.span / term.lengthscale;
    }
    const double bytes = 8 * static_cast<double>(count) * (held + 4096);
    if (bytes > default_max_bytes())
      throw std::invalid_argument(
          fmt::format("--samples {} would take {:.0f} GB of memory", count, bytes / 1e9));
  }

  Index count_, rows_ = 0;
  std::vector<PosteriorFunction> functions_;
  std::vector<double> drawn_;
};

/// About how many seconds the parts of a prediction take.
struct Expected {
  double factor = 0, draws = 0, rows = 0, text = 0;
  double all() const { return factor + draws + rows + text; }
};

/// From what an evaluation with gradient takes.  Measured on 10⁶ points and as many rows, in evaluations: the
/// rows of markov, dual and elements 3.7, 2.2 and 4.0, one draw 3.4, 0.06 and 1.3.
Expected expected_of(const FitResult& fit, Index rows, Index samples, bool components) {
  constexpr double kRow = 3e-7, kNumber = 4e-8, kValueOfDraw = 5e-8;  // seconds
  const auto m = static_cast<double>(rows), s = static_cast<double>(samples);
  const std::vector<Term>& terms = fit.model.kernel.terms;
  const auto each_term = static_cast<double>(terms.size()), shown = components ? each_term : 0.0;
  const double evaluation = evaluation_seconds(fit);  // 0 without data
  const double of_points = evaluation > 0 ? m / static_cast<double>(fit.series->size()) : 0;
  const bool functions = std::ranges::all_of(terms, has_basis);
  return {.factor = evaluation,
          .draws = s * evaluation * (functions ? 0.1 : 1.5 * (1 + of_points)),
          .rows = (1 + shown) * std::max(3 * evaluation * of_points, kRow * m),
          .text = m * (kNumber * (static_cast<double>(kAlways) + s + 2 * shown) +
                       (functions ? kValueOfDraw * s * each_term : 0))};
}

std::vector<double> roots(std::vector<double> variances) {
  for (double& v : variances) v = std::sqrt(v);
  return variances;
}

/// The columns that every row has, then those of the components.
Columns predicted(Posterior& posterior, std::vector<double> times, bool components) {
  Prediction p = posterior.predict(times);
  Columns columns{{}, std::move(p.mean), roots(std::move(p.variance)), roots(std::move(p.variance_observed))};
  if (components) {
    for (Component& component : posterior.components(times)) {
      columns.push_back(std::move(component.mean));
      columns.push_back(roots(std::move(component.variance)));
    }
  }
  columns[0] = std::move(times);
  return columns;
}

std::vector<std::string> names_of(Index samples, std::size_t components) {
  std::vector<std::string> names{"time", "mean", "std_latent", "std_observed"};
  for (Index s = 1; s <= samples; ++s) names.push_back(fmt::format("sample_{}", s));
  for (std::size_t t = 1; t <= components; ++t) {
    names.push_back(fmt::format("mean_{}", t));
    names.push_back(fmt::format("std_{}", t));
  }
  return names;
}

/// Predictions sweep over the whole model once a piece: long pieces, of numbers.  Where these take long the
/// first ones are shorter, so that it is soon known how long.  Samples do not, and become text in short ones.
template <class Rows>
void in_pieces(Posterior& posterior, const Times& times, const Samples& samples, bool components,
               const Expected& expected, WorkProgress& progress, Rows rows) {
  constexpr Index kShort = 4096, kGrowth = 8;
  constexpr double kFirstSeconds = 0.25;
  const auto of = static_cast<double>(times.size());
  const Index longest = std::max<Index>(1 << 17, posterior.series().size());
  const bool long_at_once = expected.rows * static_cast<double>(longest) > of;  // a second
  Index piece = long_at_once
                    ? std::clamp(static_cast<Index>(kFirstSeconds * of / expected.rows), Index{1}, longest)
                    : longest;
  const double computing = expected.rows / (expected.rows + expected.text);  // the rest is writing
  const auto show = [&](Index computed, Index written) {
    const double done =
        computing * static_cast<double>(computed) + (1 - computing) * static_cast<double>(written);
    progress.show(written == times.size() ? written : static_cast<Index>(done), times.size());
  };
  for (Index begin = 0, end = 0; begin < times.size();
       begin = end, piece = std::min(kGrowth * piece, longest)) {
    end = std::min(begin + piece, times.size());
    const Columns all = predicted(posterior, times.slice(begin, end), components);
    const Index count = end - begin;
    show(end, begin);
    for (Index from = 0; from < count; from += kShort) {
      const Index to = std::min(from + kShort, count);
      Columns some;
      const auto take = [&](std::size_t c) { some.emplace_back(all[c].begin() + from, all[c].begin() + to); };
      for (std::size_t c = 0; c < kAlways; ++c) take(c);
      samples.append({all[0].data() + from, static_cast<std::size_t>(to - from)}, begin + from, some);
      for (std::size_t c = kAlways; c < all.size(); ++c) take(c);
      rows(some);
      show(end, begin + to);
    }
  }
}

void write_csv(TextStream& out, const Columns& columns, const Series& series) {
  for (std::size_t row = 0; row < columns[0].size(); ++row) {
    out.text(time_text(series, columns[0][row]));
    for (std::size_t c = 1; c < columns.size(); ++c) {
      out.text(",");
      out.number(columns[c][row]);
    }
    out.text("\n");
  }
}

/// How many rows continue the data, on either side; empty where none do.
std::string beyond_text(const Series& series, Index before, Index after, Index rows) {
  if (before + after == 0) return "";
  const SeriesReport& report = series.report;
  const auto side = [&](const char* where, const char* does, double end) {
    return fmt::format("{} the data, which {} at {}", where, does, time_text(series, end));
  };
  const std::string early = side("before", "begin", report.first_time),
                    late = side("after", "end", report.last_time);
  const auto lie = [](Index count) { return count == 1 ? "lies" : "lie"; };
  if (after == 0) return fmt::format("{} of {} {} {}", before, counted(rows, "row"), lie(before), early);
  std::string text = fmt::format("{} of {} {} {}", after, counted(rows, "row"), lie(after), late);
  if (before > 0) text += fmt::format("; {} {} {}", before, lie(before), early);
  return text;
}

/// What a reader of the rows should know; empty where there is nothing.
std::string remark(const FitResult& fit, Index outside, Index rows, double distance) {
  if (outside == 0) return "";
  const SeriesReport& report = fit.series->report;
  return fmt::format(
      "{} of {} rows lie more than {:g} length-scales ({:.4g}) outside the data, {} to {}: there the curve "
      "falls "
      "back to the mean",
      outside, rows, kFar, distance, time_text(*fit.series, report.first_time),
      time_text(*fit.series, report.last_time));
}

Times asked_for(const PredictFlags& flags, const Series& series) {
  if (flags.at.has_value() + flags.grid.has_value() + flags.horizon.has_value() != 1)
    throw std::invalid_argument(
        "at which times? give one of --at FILE, --grid A,B,STEP and --horizon LENGTH");
  if (flags.step && !flags.horizon)
    throw std::invalid_argument("--step is that of --horizon; --grid A,B,STEP has its own");
  if (!flags.at && !flags.x.empty())
    throw std::invalid_argument("--x names a column of --at FILE; there is none");
  if (flags.horizon) return Times::after(series, *flags.horizon, flags.step.value_or(""));
  if (flags.grid) return Times::grid(series, "--grid", *flags.grid);
  if (flags.model == "-" && *flags.at == "-")
    throw std::invalid_argument("MODEL and --at are both standard input; only one can be");
  return Times(read_times(series, *flags.at, flags.x));
}

int predict(const PredictFlags& flags) {
  check(flags.common);
  const Index samples = flags.samples ? whole_number("--samples", *flags.samples) : 0;
  const auto seed = static_cast<std::uint64_t>(whole_number("--seed", flags.common.seed.value_or("0")));
  const std::string output = flags.output.value_or("-");
  require_writable(output);
  require_other_than(output, flags.model);
  if (flags.at) require_other_than(output, *flags.at);
  const FitResult fit = load_model(flags.model);
  const Times times = asked_for(flags, *fit.series);
  if (times.size() > kMostRows)
    throw std::invalid_argument(fmt::format("{} rows would be some {:.0f} TB: ask for fewer", times.size(),
                                            7e-11 * static_cast<double>(times.size())));
  Samples::require_possible(samples, times, fit);
  // A line that is written over does not go with rows on the same terminal.
  WorkProgress progress(flags.common.quiet || (output == "-" && is_terminal(STDOUT_FILENO)));
  const Expected expected = expected_of(fit, times.size(), samples, flags.components);
  progress.expect(expected.all(),
                  fmt::format("predicting {}{}", counted(times.size(), "row"),
                              samples > 0 ? fmt::format(" with {}", counted(samples, "draw")) : ""));
  const std::shared_ptr<Posterior> kept = fit.posterior(thread_count(flags.common));
  Posterior& posterior = *kept;
  progress.count("draws", expected.draws, expected.rows + expected.text);
  const Samples draws(posterior, times, samples, seed, progress);
  progress.count("rows", expected.rows + expected.text);

  const SeriesReport& report = fit.series->report;
  double distance = 0;
  for (const Term& term : fit.model.kernel.terms) distance = std::max(distance, kFar * memory(term));
  Index outside = 0, before = 0, after = 0;
  const auto count_outside = [&](const std::vector<double>& at) {
    before += std::ranges::count_if(at, [&](double t) { return t < report.first_time; });
    after += std::ranges::count_if(at, [&](double t) { return t > report.last_time; });
    outside += std::ranges::count_if(
        at, [&](double t) { return t < report.first_time - distance || t > report.last_time + distance; });
  };
  const std::vector<std::string> names =
      names_of(samples, flags.components ? fit.model.kernel.terms.size() : 0);
  const double held = 8 * static_cast<double>(times.size()) * static_cast<double>(names.size());
  if (flags.common.json && held > default_max_bytes()) {
    throw std::invalid_argument(
        fmt::format("--json holds all rows, here {:.0f} GB of them; without it they stream", held / 1e9));
  }
  TextStream out(output);
  if (flags.common.json) {
    Columns all(names.size());  // numbers, held until they are all there
    in_pieces(posterior, times, draws, flags.components, expected, progress, [&](const Columns& some) {
      count_outside(some[0]);
      for (std::size_t c = 0; c < all.size(); ++c)
        all[c].insert(all[c].end(), some[c].begin(), some[c].end());
    });
    std::function<std::string(double)> dates;
    if (!fit.series->axis.is_plain()) dates = [&](double time) { return time_text(*fit.series, time); };
    write_json(out, names, all, dates);
  } else {
    out.text(fmt::format("{}\n", fmt::join(names, ",")));
    in_pieces(posterior, times, draws, flags.components, expected, progress, [&](const Columns& some) {
      count_outside(some[0]);
      write_csv(out, some, *fit.series);
    });
  }
  out.finish();
  const std::string why = model_reservation(fit);
  if (!flags.common.quiet) {
    for (const std::string& text : {beyond_text(*fit.series, before, after, times.size()),
                                    remark(fit, outside, times.size(), distance), why}) {
      if (!text.empty()) fmt::print(stderr, "bandgp: {}\n", text);
    }
  }
  return why.empty() ? 0 : 1;
}

}  // namespace

void add_predict(CLI::App& program, Run& run) {
  auto flags = std::make_shared<PredictFlags>();
  CLI::App* command = program.add_subcommand("predict", "curve, error bars and samples of a model, as CSV");
  command->add_option("MODEL", flags->model, "what bandgp fit -o has written; - is standard input")
      ->type_name(" ")
      ->required();
  command->add_option("--at", flags->at, "table with a column of times; - is standard input")
      ->type_name("FILE")
      ->group("Times");
  command->add_option("--x", flags->x, "that column, by name or number from 1 (default: where it is clear)")
      ->type_name("COL")
      ->group("Times");
  command
      ->add_option("--grid", flags->grid,
                   "times from A to B instead, STEP apart; dates as 2001-01-01,2002-01-01,1h (s, min, h, d, "
                   "y = 365.25 d)")
      ->type_name("A,B,STEP")
      ->group("Times");
  command
      ->add_option("--horizon", flags->horizon,
                   "a forecast instead: times after the data up to so far, such as 48h (s, min, h, d, y = "
                   "365.25 d), or a number in the data's unit of time")
      ->type_name("LENGTH")
      ->group("Times");
  command
      ->add_option("--step", flags->step,
                   "with --horizon: how far they are apart (default: the median spacing of the data)")
      ->type_name("LENGTH")
      ->group("Times");
  command->add_option("-o,--output", flags->output, "write to this file (default: -, standard output)")
      ->type_name("FILE")
      ->group("Output");
  command
      ->add_option("--samples", flags->samples,
                   "further columns: draws of the whole curve (any number of rows where all terms are se, "
                   "Matérn or periodic, else up to 2000)")
      ->type_name("N")
      ->group("Output");
  command->add_flag("--components", flags->components, "further columns: mean and deviation of every term")
      ->group("Output");
  add_common_flags(*command, flags->common);
  set_examples(*command,
               {"bandgp predict model.json --grid 1749,1990,0.25 -o curve.csv",
                "bandgp predict model.json --horizon 2 -o forecast.csv",
                "bandgp predict model.json --at data/sunspots.csv --samples 5 --seed 1 --json -o curves.json",
                "cut -d, -f1 data/sunspots.csv | bandgp predict model.json --at - --components --quiet"},
               "Columns: time, mean, std_latent (of the curve), std_observed (of a new observation), then\n"
               "sample_1, ... for every draw and mean_1, std_1, ... for every term, which lacks the mean\n"
               "function but shares its uncertainty.");
  command->callback([flags, &run] { run = [flags] { return predict(*flags); }; });
}

}  // namespace bandgp::cli
