// SPDX-License-Identifier: Apache-2.0
#include "bandgp/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bandgp/cli/shell.hpp"

namespace bandgp::cli {
namespace {

/// Every `special` character is written as `instead`, in which {} stands for it.
std::string escaped(std::string_view text, std::string_view special, const char* instead) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) == special.npos)
      out += c;
    else
      out += fmt::format(fmt::runtime(instead), c);
  }
  return out;
}

std::string command_names(const Reference& reference, std::string_view separator) {
  std::vector<std::string> names;
  names.reserve(reference.commands.size());
  for (const CommandEntry& command : reference.commands) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, separator));
}

/// What may be written in the place of a value, as bash: words, files or nothing.
std::string bash_value(const OptionEntry& option) {
  if (!option.choices.empty()) return fmt::format("words='{}'", fmt::join(option.choices, " "));
  return option.takes_file() ? "_bandgp_files; return" : "return";
}

}  // namespace

std::string bash_completion(const Reference& reference) {
  std::string values, flags, arguments;
  for (const CommandEntry& command : reference.commands) {
    std::vector<std::string> names;
    for (const OptionEntry& option : command.options) {
      if (option.positional) {
        arguments += fmt::format("      {}) {} ;;\n", command.name, bash_value(option));
        continue;
      }
      names.insert(names.end(), option.names.begin(), option.names.end());
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      patterns.reserve(option.names.size());
      for (const std::string& name : option.names) patterns.push_back(command.name + ":" + name);
      values += fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), bash_value(option));
    }
    flags += fmt::format("      {}) words='{}' ;;\n", command.name, fmt::join(names, " "));
  }
  return fmt::format(R"(# bash completion for bandgp
_bandgp_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}}

_bandgp() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command='' words='' word
  COMPREPLY=()
  # --name=value comes as three words.
  if [[ $cur == '=' ]]; then cur=''
  elif [[ $prev == '=' ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in {0}) command=$word; break ;; esac
  done
  case $command:$prev in
{1}    :*) words='{2} --help --version' ;;
  esac
  if [[ -z $words && $cur == -?* ]]; then
    case $command in
{3}    esac
  elif [[ -z $words ]]; then
    case $command in
{4}    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}}
complete -F _bandgp bandgp
)",
                     command_names(reference, "|"), values, command_names(reference, " "), flags, arguments);
}

std::string zsh_completion(const Reference& reference) {
  const auto plain = [](std::string_view text) {
    return escaped(text, "\\[]:", "\\{}");
  };  // in [help] and :value:
  std::string commands, cases;
  for (const CommandEntry& command : reference.commands) {
    commands += fmt::format("        {}\n", shell_quoted(command.name + ":" + plain(command.summary)));
    cases += fmt::format("        {})\n          _arguments", command.name);
    for (const OptionEntry& option : command.options) {
      const std::string action = option.takes_file() ? "_files"
                                 : option.choices.empty()
                                     ? " "
                                     : fmt::format("({})", fmt::join(option.choices, " "));
      const std::string value = fmt::format(":{}:{}", plain(option.value), action);
      if (option.positional) {
        cases += fmt::format(" \\\n            {}", shell_quoted("1" + value));
        continue;
      }
      for (const std::string& name : option.names) {
        const bool is_long = name.starts_with("--");
        cases +=
            fmt::format(" \\\n            {}",
                        shell_quoted(fmt::format("({}){}{}[{}]{}", fmt::join(option.names, " "), name,
                                                 option.value.empty() ? ""
                                                 : is_long            ? "="
                                                                      : "+",
                                                 plain(option.help), option.value.empty() ? "" : value)));
      }
    }
    cases += "\n          ;;\n";
  }
  return fmt::format(R"(#compdef bandgp
_bandgp() {{
  local context state state_descr line
  typeset -A opt_args
  _arguments -C '(- *)'{{-h,--help}}'[print help]' '(- *)--version[print the version]' \
    '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands
      commands=(
{0}      )
      _describe -t commands command commands
      ;;
    argument)
      case $words[1] in
{1}      esac
      ;;
  esac
}}
if [[ $funcstack[1] == _bandgp ]]; then
  _bandgp "$@"
else
  compdef _bandgp bandgp
fi
)",
                     commands, cases);
}

std::string fish_completion(const Reference& reference) {
  const auto fish = [](std::string_view text) { return fmt::format("'{}'", escaped(text, "\\'", "\\{}")); };
  std::string out =
      "# fish completion for bandgp\n"
      "complete -c bandgp -f\n"
      "complete -c bandgp -n __fish_use_subcommand -s h -l help -d 'print help'\n"
      "complete -c bandgp -n __fish_use_subcommand -l version -d 'print the version'\n";
  for (const CommandEntry& command : reference.commands)
    out += fmt::format("complete -c bandgp -n __fish_use_subcommand -a {} -d {}\n", command.name,
                       fish(command.summary));
  for (const CommandEntry& command : reference.commands) {
    for (const OptionEntry& option : command.options) {
      out += fmt::format("complete -c bandgp -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.positional ? std::vector<std::string>{} : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes_file()) {
        out += option.positional ? " -F" : " -r -F";
      } else if (!option.choices.empty()) {
        out += fmt::format(" {}-a {}", option.positional ? "" : "-x ",
                           fish(fmt::format("{}", fmt::join(option.choices, " "))));
      } else if (!option.value.empty()) {
        out += " -x";
      }
      out += fmt::format(" -d {}\n", fish(option.help));
    }
  }
  return out;
}

}  // namespace bandgp::cli
