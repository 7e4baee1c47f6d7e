// SPDX-License-Identifier: Apache-2.0
// What the library has to say, as values: a code, fields with names, and advice on what would help.  The
// library has one sentence for every code; an option in it is spelt by whoever speaks: --thin 0.3 on the
// command line, thin=0.3 in Python.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bandgp/base/index.hpp"

namespace bandgp {

/// In the order of the table in message.cpp, which has the sentence of each.
enum class MessageCode {
  text,  // a sentence that mentions no option: field `text`
  // Reading tables.  A field `place` (file, line, column) precedes the sentence.
  one_column,
  one_dimension,
  several_columns,
  which_time_column,
  which_value_column,
  no_value_column,
  column_serves_twice,
  time_column_and_step,
  time_options_without_column,
  unknown_time_unit,
  unknown_time_format,
  unknown_date,
  not_a_time,
  day_or_month_first,
  time_unit_of_numbers,
  which_channel,
  table_options_of_recording,
  time_format_of_recording,
  channel_of_table,
  // Advice: how to read it all the same.
  name_time_column,
  skip_bad_lines,
  // What a fit or an evaluation cannot be done with.
  unknown_mean,
  kernel_without_terms,
  unknown_parameter,
  parameter_not_positive,
  noise_not_positive,
  noise_without_errors,
  fixed_noise_without_errors,
  centred_series,
  linear_mean_of_one_time,
  parameters_out_of_scale,
  values_out_of_scale,
  one_observation,
  equal_values,
  // How training ended.
  converged,
  at_bound,
  out_of_evaluations,
  stalled,
  rounding,
  lost_to_rounding,
  cancelled,
  cancelled_at_start,
  cancelled_in_search,
  cost_refused,
  too_large_everywhere,
  singular_everywhere,
  band_too_narrow_everywhere,
  stage_too_large,
  // Why there is no posterior.
  not_positive_definite,
  prediction_too_large,
  // Advice: how to do with less.
  use_automatic_for_exact,
  use_automatic_method,
  use_automatic_bandwidth,
  fewer_inducing,
  fewer_neighbours,
  shorter_taper,
  thin_series,
  // Experiments.
  no_data_folder,
  not_in_data_folder,
  bundled_series,
  // Reports.
  report_without_data,
  count_,
};

/// The options that sentences mention, under the names they have in C++ and Python.
enum class Option {
  x,
  y,
  yerr,
  step,
  channel,
  time_format,
  time_unit,
  thin,
  fix,
  method,
  bandwidth,
  inducing,
  neighbours,
  taper_range,
  data,       // the folder of an experiment's data
  data_file,  // the table that a model was fitted to
  skip_bad,
};
std::string_view option_name(Option option);

/// An option, or (with a value) its setting, as one surface writes it.  The value of `fix` is name=value.
using Spelling = std::string (*)(Option option, std::string_view value);
/// The library's own: thin, thin=0.3, fix noise=0.1.
std::string plain_spelling(Option option, std::string_view value);

struct Field {
  std::string_view name;  // of static storage
  std::variant<std::string, double, Index> value;
};

struct Message {
  MessageCode code = MessageCode::text;
  std::vector<Field> fields = {};
  std::vector<Message> advice = {};  // follows the sentence

  /// A field that must be there, of that type.
  const std::string& text(std::string_view name) const;
  double number(std::string_view name) const;
  Index count(std::string_view name) const;
  const Field* find(std::string_view name) const;
};

inline Message text_message(std::string text) { return {MessageCode::text, {{"text", std::move(text)}}}; }

/// "one_column", for programs.
std::string_view code_name(MessageCode code);
/// One sentence without its full stop: [place: ]sentence[ (column name)][; advice].
std::string words(const Message& message, Spelling spelling = plain_spelling);
/// Advice by itself: sentences separated by semicolons.
std::string words(const std::vector<Message>& messages, Spelling spelling = plain_spelling);

}  // namespace bandgp
