// SPDX-License-Identifier: Apache-2.0
// The program's own description of itself: what was declared with CLI11 is the one table from which help, man
// page, documentation and completions are made.  A value's type name tells more than a word:
//   FILE, MODEL   a file          zero|constant|K   one of these (capitals stand for a value of one's own)
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace bandgp::cli {

/// The text below a command's options: notes, then examples that can be run as they are.
void set_examples(CLI::App& command, std::initializer_list<std::string_view> examples,
                  std::string_view notes = "");

struct OptionEntry {
  std::vector<std::string> names;    // -o, --output; of a positional argument FILE
  std::string value;                 // its type name; empty for a flag
  std::string help, group;           // group "Data", "Model", …
  std::vector<std::string> choices;  // what can be written out
  bool positional = false, required = false;

  bool takes_file() const { return value == "FILE" || value == "MODEL"; }
};

struct CommandEntry {
  std::string name, summary, notes;
  std::vector<OptionEntry> options;  // as declared, -h last
  std::vector<std::string> examples;

  /// `bandgp fit [options] FILE`
  std::string usage() const;
  /// Groups in the order of their first option; "Arguments" for positionals.
  std::vector<std::string> groups() const;
};

struct Reference {
  std::string summary, notes;
  std::vector<CommandEntry> commands;
  std::vector<std::string> examples;
};

Reference reference_of(const CLI::App& program);
CommandEntry command_entry(const CLI::App& command);

}  // namespace bandgp::cli
