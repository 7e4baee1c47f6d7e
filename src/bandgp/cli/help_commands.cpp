// SPDX-License-Identifier: Apache-2.0
// The commands that tell about the others.
#include <CLI/CLI.hpp>
#include <stdexcept>

#include "bandgp/base/quote.hpp"
#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/completion.hpp"
#include "bandgp/cli/manual.hpp"
#include "bandgp/io/write_file.hpp"

namespace bandgp::cli {

void add_man(CLI::App& program, Run& run) {
  auto format = std::make_shared<std::string>("roff");
  CLI::App* command = program.add_subcommand("man", "this program's manual, for man or as Markdown");
  command->add_option("--format", *format, "of the manual (default: roff)")
      ->type_name("roff|markdown")
      ->group("Output");
  set_examples(*command, {"bandgp man > bandgp.1"}, "To read it: man ./bandgp.1");
  command->callback([&program, &run, format] {
    run = [&program, format] {
      if (*format != "roff" && *format != "markdown")
        throw std::invalid_argument("--format is roff or markdown, not " + quote(*format));
      const Reference reference = reference_of(program);
      write_stdout(*format == "roff" ? manual_roff(reference) : manual_markdown(reference));
      return 0;
    };
  });
}

void add_completion(CLI::App& program, Run& run) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      program.add_subcommand("completion", "a script that lets a shell complete commands, flags and choices");
  command->add_option("SHELL", *shell, "bash, zsh or fish")->type_name("bash|zsh|fish")->required();
  set_examples(
      *command, {"bandgp completion bash > bandgp.bash", "source <(bandgp completion bash)"},
      "An installed bandgp has them in place. Otherwise: bash, a line source <(bandgp completion bash) in\n"
      "~/.bashrc; zsh, the script as _bandgp in a folder of $fpath; fish, as\n"
      "~/.config/fish/completions/bandgp.fish.");
  command->callback([&program, &run, shell] {
    run = [&program, shell] {
      const Reference reference = reference_of(program);
      if (*shell == "bash")
        write_stdout(bash_completion(reference));
      else if (*shell == "zsh")
        write_stdout(zsh_completion(reference));
      else if (*shell == "fish")
        write_stdout(fish_completion(reference));
      else
        throw std::invalid_argument("SHELL is bash, zsh or fish, not " + quote(*shell));
      return 0;
    };
  });
}

}  // namespace bandgp::cli
