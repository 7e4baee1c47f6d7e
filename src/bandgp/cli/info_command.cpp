// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "bandgp/cli/commands.hpp"
#include "bandgp/cli/output.hpp"
#include "bandgp/cli/reference.hpp"
#include "bandgp/io/write_file.hpp"
#include "bandgp/simd/dispatch.hpp"
#include "bandgp/version.hpp"

namespace bandgp::cli {
namespace {

int info(const CommonFlags& flags) {
  std::vector<std::string_view> available;
  for (const simd::Isa isa : simd::available()) available.push_back(simd::isa_name(isa));
  const std::string_view active = simd::isa_name(simd::active());
  if (flags.json) {
    print({{"version", version()},
           {"instruction_set", active},
           {"instruction_sets", available},
           {"threads", thread_count(flags)}});
  } else {
    write_stdout(
        field("bandgp", version()) +
        field("computes in", fmt::format("{} (this processor has {})", active, fmt::join(available, ", "))) +
        field("threads", std::to_string(thread_count(flags))));
  }
  return 0;
}

}  // namespace

void add_info(CLI::App& program, Run& run) {
  auto flags = std::make_shared<CommonFlags>();
  CLI::App* command = program.add_subcommand("info", "version, instruction set in use, threads");
  command->add_option("--threads", flags->threads, "number of threads (default: one for each processor)")
      ->type_name("N")
      ->group("Output");
  command->add_flag("--json", flags->json, "print JSON")->group("Output");
  set_examples(*command, {"bandgp info --json"});
  command->callback([flags, &run] { run = [flags] { return info(*flags); }; });
}

}  // namespace bandgp::cli
