// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/reference.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>

namespace bandgp::cli {
namespace {

constexpr std::string_view kExamples = "Examples:\n", kIndent = "  ";

bool is_placeholder(const std::string& choice) {
  return std::ranges::all_of(choice, [](unsigned char c) { return std::isupper(c) != 0; });
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry;
  entry.positional = option.get_positional();
  if (entry.positional) {
    entry.names = {option.get_name(true)};
    entry.value = entry.names[0];
    entry.group = "Arguments";
  } else {
    for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
    if (option.get_items_expected_max() > 0) entry.value = option.get_type_name();
    entry.group = option.get_group();
  }
  entry.help = option.get_description();
  entry.required = option.get_required();
  const std::string choices = entry.positional ? option.get_type_name() : entry.value;
  if (choices.find('|') != choices.npos) {
    std::istringstream in(choices);
    for (std::string choice; std::getline(in, choice, '|');)
      if (!is_placeholder(choice)) entry.choices.push_back(choice);
  }
  return entry;
}

/// A footer as set_examples() wrote it, taken apart again.
void split_footer(const std::string& footer, std::string& notes, std::vector<std::string>& examples) {
  const std::size_t at = footer.find(kExamples);
  notes = footer.substr(0, at);
  while (notes.ends_with('\n')) notes.pop_back();
  if (at == footer.npos) return;
  std::istringstream in(footer.substr(at + kExamples.size()));
  for (std::string line; std::getline(in, line);) examples.push_back(line.substr(kIndent.size()));
}

}  // namespace

void set_examples(CLI::App& command, std::initializer_list<std::string_view> examples,
                  std::string_view notes) {
  std::string text(notes);
  if (!text.empty()) text += "\n\n";
  text += kExamples;
  for (const std::string_view example : examples) {
    text += kIndent;
    text += example;
    text += '\n';
  }
  text.pop_back();
  command.footer(text);
}

std::string CommandEntry::usage() const {
  std::string text = "bandgp " + name;
  if (std::ranges::any_of(options, [](const OptionEntry& o) { return !o.positional; })) text += " [options]";
  for (const OptionEntry& option : options) {
    if (option.positional) text += option.required ? " " + option.names[0] : " [" + option.names[0] + "]";
  }
  return text;
}

std::vector<std::string> CommandEntry::groups() const {
  std::vector<std::string> groups;
  for (const OptionEntry& option : options) {
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  }
  return groups;
}

CommandEntry command_entry(const CLI::App& command) {
  CommandEntry entry{command.get_name(), command.get_description(), "", {}, {}};
  split_footer(command.get_footer(), entry.notes, entry.examples);
  const CLI::Option* help = command.get_help_ptr();
  for (const CLI::Option* option : command.get_options()) {
    if (option != help) entry.options.push_back(entry_of(*option));
  }
  if (help != nullptr) {
    entry.options.push_back(entry_of(*help));
    entry.options.back().group = "Other";
  }
  return entry;
}

Reference reference_of(const CLI::App& program) {
  Reference reference;
  reference.summary = program.get_description();
  split_footer(program.get_footer(), reference.notes, reference.examples);
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    reference.commands.push_back(command_entry(*command));
  return reference;
}

}  // namespace bandgp::cli
