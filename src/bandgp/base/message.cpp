// SPDX-License-Identifier: Apache-2.0
#include "bandgp/base/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace bandgp {
namespace {

using fmt::format;
using enum MessageCode;

/// A message on its way into words.
struct Speaker {
  const Message& message;
  Spelling spelling;

  const std::string& text(std::string_view name) const { return message.text(name); }
  double number(std::string_view name) const { return message.number(name); }
  Index count(std::string_view name) const { return message.count(name); }
  std::string option(Option which, std::string_view value = {}) const { return spelling(which, value); }
};
using Say = const Speaker&;

std::string after(Say say) {
  return format("after {} evaluations, NLL {:.6g}", say.count("evaluations"), say.number("nll"));
}

struct Entry {
  MessageCode code;
  std::string_view name;
  std::string (*sentence)(Say);
};

constexpr std::array<Entry, static_cast<std::size_t>(count_)> kEntries{{
    {text, "text", [](Say say) { return say.text("text"); }},

    {one_column, "one_column",
     [](Say say) {
       return format("has one column only; give the spacing of its values by {}", say.option(Option::step));
     }},
    {one_dimension, "one_dimension",
     [](Say say) {
       return format("is an array of one dimension; give the spacing of its values by {}",
                     say.option(Option::step));
     }},
    {several_columns, "several_columns",
     [](Say say) {
       return format("has several columns; with {}, name the values by {}", say.option(Option::step),
                     say.option(Option::y));
     }},
    {which_time_column, "which_time_column",
     [](Say say) {
       const bool values_too = say.count("values_too") != 0;
       return format("which column holds the times? Name it by {}{}; columns: {}", say.option(Option::x),
                     values_too ? ", the values by " + say.option(Option::y) : "", say.text("columns"));
     }},
    {which_value_column, "which_value_column",
     [](Say say) {
       return format("which column holds the values? Name it by {}; columns: {}", say.option(Option::y),
                     say.text("columns"));
     }},
    {no_value_column, "no_value_column",
     [](Say say) {
       return format("has no column left for the values; name them by {} and {}", say.option(Option::x),
                     say.option(Option::y));
     }},
    {column_serves_twice, "column_serves_twice",
     [](Say say) {
       return format("one column cannot serve as two of time, value and error ({}, {}, {})",
                     say.option(Option::x), say.option(Option::y), say.option(Option::yerr));
     }},
    {time_column_and_step, "time_column_and_step",
     [](Say) -> std::string { return "a time column and a step are given; only one of them can hold"; }},
    {time_options_without_column, "time_options_without_column",
     [](Say say) {
       return format("{} and {} are for a time column, and {} says there is none",
                     say.option(Option::time_format), say.option(Option::time_unit),
                     say.option(Option::step));
     }},
    {unknown_time_unit, "unknown_time_unit",
     [](Say say) {
       return format("{} is s, min, h, d or y, not {}", say.option(Option::time_unit), say.text("given"));
     }},
    {unknown_time_format, "unknown_time_format",
     [](Say say) {
       return format("{} is a pattern such as '%d-%m-%Y %H:%M', number, epoch-s or epoch-ms, not {}",
                     say.option(Option::time_format), say.text("given"));
     }},
    {unknown_date, "unknown_date",
     [](Say say) {
       return format(
           "{} is neither a number nor a date in a form that is known; {} tells how it is written, such as "
           "{}",
           say.text("cell"), say.option(Option::time_format), say.option(Option::time_format, "%d/%m/%y"));
     }},
    {not_a_time, "not_a_time", [](Say say) { return say.text("cell") + " is neither a number nor a date"; }},
    {day_or_month_first, "day_or_month_first",
     [](Say say) {
       return format("{} may have the day or the month first, and no row tells which: give {} '{}' or '{}'",
                     say.text("cell"), say.option(Option::time_format), say.text("day_first"),
                     say.text("month_first"));
     }},
    {time_unit_of_numbers, "time_unit_of_numbers",
     [](Say say) {
       return format(
           "{} is for timestamps, and these times are plain numbers ({} or epoch-ms says they are Unix "
           "times)",
           say.option(Option::time_unit), say.option(Option::time_format, "epoch-s"));
     }},
    {which_channel, "which_channel",
     [](Say say) {
       return format("name one of its channels by {}: {}", say.option(Option::channel), say.text("channels"));
     }},
    {table_options_of_recording, "table_options_of_recording",
     [](Say say) {
       return format("is an EDF recording: choose by {}; {}, {}, {} and {} are for tables",
                     say.option(Option::channel), say.option(Option::x), say.option(Option::y),
                     say.option(Option::yerr), say.option(Option::step));
     }},
    {time_format_of_recording, "time_format_of_recording",
     [](Say say) {
       return format("is an EDF recording: {} is for tables", say.option(Option::time_format));
     }},
    {channel_of_table, "channel_of_table",
     [](Say say) {
       return format("is not an EDF recording: {} does not apply, {} names a column",
                     say.option(Option::channel), say.option(Option::y));
     }},
    {name_time_column, "name_time_column",
     [](Say say) { return say.option(Option::x) + " names the column of times"; }},
    {skip_bad_lines, "skip_bad_lines",
     [](Say say) { return say.option(Option::skip_bad) + " drops such lines and counts them"; }},

    {unknown_mean, "unknown_mean",
     [](Say say) { return format("mean is zero, constant or linear, not \"{}\"", say.text("given")); }},
    {kernel_without_terms, "kernel_without_terms",
     [](Say) -> std::string { return "the kernel has no term"; }},
    {unknown_parameter, "unknown_parameter",
     [](Say say) {
       return format("{}: no parameter \"{}\"; there are {}", say.text("option"), say.text("parameter"),
                     say.text("parameters"));
     }},
    {parameter_not_positive, "parameter_not_positive",
     [](Say say) {
       return format("{}: {} must be positive, not {}", say.text("option"), say.text("parameter"),
                     say.number("value"));
     }},
    {noise_not_positive, "noise_not_positive",
     [](Say say) { return format("noise is a variance and must be positive, not {}", say.number("value")); }},
    {noise_without_errors, "noise_without_errors",
     [](Say say) {
       return format("noise must be positive: 0 needs a known positive error for every point ({})",
                     say.option(Option::yerr));
     }},
    {fixed_noise_without_errors, "fixed_noise_without_errors",
     [](Say say) {
       return format("noise fixed at 0 needs a known positive error for every point ({})",
                     say.option(Option::yerr));
     }},
    {centred_series, "centred_series",
     [](Say) -> std::string { return "a model with mean zero needs a series that was not centred"; }},
    {linear_mean_of_one_time, "linear_mean_of_one_time",
     [](Say) -> std::string { return "a linear mean needs at least two different times"; }},
    {parameters_out_of_scale, "parameters_out_of_scale",
     [](Say) -> std::string {
       return "the parameters are too far from the size of the data to compute with";
     }},
    {values_out_of_scale, "values_out_of_scale",
     [](Say say) {
       return format("values of size {} have no variance in double precision: rescale them",
                     say.number("size"));
     }},
    {one_observation, "one_observation",
     [](Say say) {
       const bool thinned = say.count("thinned") > 0;
       return format("one observation{} is not enough to fit",
                     thinned ? format(", which is what {} leaves,", say.option(Option::thin)) : "");
     }},
    {equal_values, "equal_values",
     [](Say say) {
       return format("all {} values are equal ({}): there is nothing to fit", say.count("observations"),
                     say.number("value"));
     }},

    {converged, "converged", [](Say say) { return "converged " + after(say); }},
    {at_bound, "at_bound",
     [](Say say) {
       return format("converged with {} at the edge of what is tried: the data do not determine it",
                     say.text("parameters"));
     }},
    {out_of_evaluations, "out_of_evaluations",
     [](Say say) { return "not converged: the evaluations allowed were used up, " + after(say); }},
    {stalled, "stalled",
     [](Say say) {
       return "not converged: no step improves the NLL any more, though its slope is not small, " +
              after(say);
     }},
    {rounding, "rounding",
     [](Say say) {
       return format(
           "rounding, about {:.1g} nats of the NLL, hides where its minimum is, {}; with a larger noise "
           "there "
           "would be one, as in {}",
           say.number("rounding"), after(say),
           say.option(Option::fix, format("noise={:.0e}", say.number("noise"))));
     }},
    {lost_to_rounding, "lost_to_rounding",
     [](Say say) {
       return format(
           "rounding hides where its minimum is, {}: the search saw an NLL of {:.6g} where this kernel's "
           "covariance is singular in double precision; with a larger noise it would not be, as in {}",
           after(say), say.number("seen"),
           say.option(Option::fix, format("noise={:.0e}", say.number("noise"))));
     }},
    {cancelled, "cancelled",
     [](Say say) { return "interrupted " + after(say) + "; this is the best so far"; }},
    {cancelled_at_start, "cancelled_at_start",
     [](Say) -> std::string { return "cancelled before any parameters were tried"; }},
    {cancelled_in_search, "cancelled_in_search",
     [](Say say) {
       return format(
           "cancelled during the search; an evaluation on all {} points would take about {:.0f} s more",
           say.count("n"), say.number("seconds"));
     }},
    {cost_refused, "cost_refused", [](Say) -> std::string { return "stopped before an expensive stage"; }},
    {too_large_everywhere, "too_large_everywhere",
     [](Say say) {
       return format(
           "the covariance needs {:.2g} GB or more at every starting point, {:.2g} GB are allowed: {} the "
           "series",
           say.number("bytes") / 1e9, say.number("allowed") / 1e9, say.option(Option::thin));
     }},
    {singular_everywhere, "singular_everywhere",
     [](Say say) {
       return format(
           "the covariance was singular in double precision at {} of {} points tried: the values have hardly "
           "any noise; fix some, as in {}",
           say.count("rejected"), say.count("evaluations"),
           say.option(Option::fix, format("noise={:.0e}", say.number("noise"))));
     }},
    {band_too_narrow_everywhere, "band_too_narrow_everywhere",
     [](Say say) {
       return format(
           "the banded covariance lost positive definiteness at {} of {} points tried, and wherever all data "
           "were used: widen the band",
           say.count("rejected"), say.count("evaluations"));
     }},
    {stage_too_large, "stage_too_large",
     [](Say say) {
       return format(
           "{} on {} points needs {:.1f} GB and about {:.0f} s an evaluation, {:.1f} GB are allowed",
           say.text("what"), say.count("n"), say.number("bytes") / 1e9, say.number("seconds"),
           say.number("allowed") / 1e9);
     }},

    {not_positive_definite, "not_positive_definite",
     [](Say say) {
       return format(
           "the covariance is not positive definite in double precision (row {}): widen the band if it has "
           "one, or give the model more noise",
           say.count("row"));
     }},
    {prediction_too_large, "prediction_too_large",
     [](Say say) { return format("prediction needs a band of {:.1f} GB", say.number("bytes") / 1e9); }},

    {use_automatic_for_exact, "use_automatic_for_exact",
     [](Say say) { return say.option(Option::method, "auto") + " computes the same GP with a certificate"; }},
    {use_automatic_method, "use_automatic_method",
     [](Say say) { return say.option(Option::method, "auto") + " needs no such band"; }},
    {use_automatic_bandwidth, "use_automatic_bandwidth",
     [](Say say) {
       const bool dual = say.count("dual") != 0;
       return format("{}{} keeps no more than it needs", say.option(Option::bandwidth, "auto"),
                     dual ? " with " + say.option(Option::method, "auto") : "");
     }},
    {fewer_inducing, "fewer_inducing",
     [](Say say) { return format("take fewer {} inputs", say.option(Option::inducing)); }},
    {fewer_neighbours, "fewer_neighbours",
     [](Say say) { return "take fewer " + say.option(Option::neighbours); }},
    {shorter_taper, "shorter_taper",
     [](Say say) { return "take a shorter " + say.option(Option::taper_range); }},
    {thin_series, "thin_series",
     [](Say say) {
       return format("{} would bring it to about {:.0f} neighbours",
                     say.option(Option::thin, format("{:.3g}", say.number("thin"))),
                     say.number("neighbours"));
     }},

    {no_data_folder, "no_data_folder",
     [](Say say) {
       return format(
           "no data folder: give one that holds {} by {} or BANDGP_DATA (README tells where to get it)",
           say.text("file"), say.option(Option::data));
     }},
    {not_in_data_folder, "not_in_data_folder",
     [](Say say) {
       return format("no {} in {}, the folder of {} or BANDGP_DATA (README tells where to get it)",
                     say.text("file"), say.text("folder"), say.option(Option::data));
     }},
    {bundled_series, "bundled_series",
     [](Say say) {
       return format(
           "The bundled series of {} months was used, not the paper's of {}: give the folder of that by {} "
           "or "
           "BANDGP_DATA.",
           say.count("months"), say.count("paper"), say.option(Option::data));
     }},

    {report_without_data, "report_without_data",
     [](Say say) {
       return format("The model file holds the curve but not the data. Points and residuals appear with {}.",
                     say.option(Option::data_file));
     }},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kEntries.size(); ++i)
    if (static_cast<std::size_t>(kEntries[i].code) != i) return false;
  return true;
}
static_assert(in_order(), "kEntries has an entry for every MessageCode, in the order of the enumeration");

const Entry& entry_of(MessageCode code) { return kEntries[static_cast<std::size_t>(code)]; }

constexpr std::array<std::string_view, 17> kOptions{
    "x",          "y",           "yerr", "step",     "channel",   "time_format",
    "time_unit",  "thin",        "fix",  "method",   "bandwidth", "inducing",
    "neighbours", "taper_range", "data", "the data", "skip_bad"};

}  // namespace

std::string_view option_name(Option option) { return kOptions[static_cast<std::size_t>(option)]; }

std::string plain_spelling(Option option, std::string_view value) {
  if (value.empty()) return std::string(option_name(option));
  return format("{}{}{}", option_name(option), option == Option::fix ? " " : "=", value);
}

const Field* Message::find(std::string_view name) const {
  const auto at = std::ranges::find(fields, name, &Field::name);
  return at == fields.end() ? nullptr : &*at;
}

const std::string& Message::text(std::string_view name) const {
  assert(find(name) != nullptr);
  return std::get<std::string>(find(name)->value);
}

double Message::number(std::string_view name) const {
  assert(find(name) != nullptr);
  return std::get<double>(find(name)->value);
}

Index Message::count(std::string_view name) const {
  assert(find(name) != nullptr);
  return std::get<Index>(find(name)->value);
}

std::string_view code_name(MessageCode code) { return entry_of(code).name; }

std::string words(const Message& message, Spelling spelling) {
  std::string said = message.find("place") != nullptr ? message.text("place") + ": " : "";
  said += entry_of(message.code).sentence({message, spelling});
  if (message.find("column") != nullptr) said += format(" (column {})", message.text("column"));
  if (!message.advice.empty()) said += "; " + words(message.advice, spelling);
  return said;
}

std::string words(const std::vector<Message>& messages, Spelling spelling) {
  std::string said;
  for (const Message& message : messages) said += (said.empty() ? "" : "; ") + words(message, spelling);
  return said;
}

}  // namespace bandgp
