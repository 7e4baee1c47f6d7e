// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/report_output.hpp"

#include <fmt/chrono.h>

#include <ctime>

#include "bandgp/io/write_file.hpp"
#include "bandgp/report/report_data.hpp"

namespace bandgp::cli {
namespace {

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";  // out of the quotes, a quote, and in again
    else
      quoted += c;
  }
  quoted += '\'';
  return quoted;
}

}  // namespace

std::string shell_text(std::span<char* const> words) {
  std::string text = "bandgp";
  for (const char* word : words.empty() ? words : words.subspan(1)) {
    text += ' ';
    text += shell_word(word);
  }
  return text;
}

std::string now_text() { return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))); }

Source source_of(const Input& input) {
  return {input.name, input.time_name, input.value_name, input.bad_lines};
}

std::size_t write_report(const FitResult& fit, const std::string& command, Index threads,
                         const std::string& path) {
  ReportOptions options;
  options.command = command;
  options.created = now_text();
  options.threads = threads;
  const std::string page = report_page(collect_report(fit, options));
  write_file(path, page);
  return page.size();
}

}  // namespace bandgp::cli
