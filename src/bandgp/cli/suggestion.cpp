// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/suggestion.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <vector>

namespace bandgp::cli {
namespace {

/// Insertions, deletions, substitutions and exchanges of neighbours that make one word the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last.swap(now);
  }
  return last[b.size()];
}

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string with_hint(std::string what, const std::string& typed, std::span<const std::string> known) {
  const bool is_long_name = std::ranges::find(known, "-" + typed) != known.end();  // -y for --y
  const std::string meant = is_long_name ? "-" + typed : nearest_word(typed, known);
  return meant.empty() ? what : fmt::format("{}; did you mean {}?", what, meant);
}

}  // namespace

std::string nearest_word(std::string_view typed, std::span<const std::string> known) {
  std::string best;
  std::size_t least = typed.size() / 3 + 1;  // more than this is another word
  for (const std::string& word : known) {
    const std::size_t distance = edit_distance(typed, word);
    if (distance < least) {
      least = distance;
      best = word;
    }
  }
  return best;
}

std::string help_hint(const CLI::App& program) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  return fmt::format(" (see bandgp {}--help)", chosen.empty() ? "" : chosen.front()->get_name() + " ");
}

std::string left_over(const CLI::App& program) {
  const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  const std::vector<std::string> before = program.remaining(), words = program.remaining(true);
  const auto option = std::ranges::find_if(words, is_option);
  if (chosen.empty() && !words.empty() && option != words.begin())
    return with_hint(fmt::format("there is no command \"{}\"", words.front()), words.front(),
                     command_names(program));
  if (!chosen.empty() && std::ranges::any_of(before, is_option))
    return fmt::format("{} is not for bandgp itself: options follow the command", *option);
  const CLI::App& command = chosen.empty() ? program : *chosen.front();
  const std::string name = chosen.empty() ? "bandgp" : command.get_name();
  if (option != words.end()) {
    const std::string typed = option->substr(0, option->find('='));
    return with_hint(fmt::format("{} has no option {}", name, typed), typed, option_names(command));
  }
  return fmt::format("{} does not take another argument \"{}\"", name, words.empty() ? "" : words.front());
}

}  // namespace bandgp::cli
