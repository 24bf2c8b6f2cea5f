#include "harness/cli/completion_command.h"

#include <fmt/format.h>

#include <memory>

#include "allocator_shim/base/nearest_name.h"
#include "harness/cli/completion.h"
#include "harness/cli/terminal.h"

namespace ohm::cli {

namespace {

int print_script(const std::string& shell) {
  const std::vector<std::string> shells = completed_shells();
  const std::string names = fmt::format("{}", fmt::join(shells, ", "));
  if (shell.empty()) throw UsageError(fmt::format("name the shell: {}", names));
  try {
    write_stdout(completion_script(shell));
  } catch (const std::invalid_argument&) {
    throw UsageError(fmt::format("unknown shell \"{}\"{}; there are scripts for {}", shell,
                                 did_you_mean(shell, shells), names));
  }
  return 0;
}

}  // namespace

std::function<int()> setup_completion(const OptionParser& parser, const Environment& environment) {
  const auto shell = std::make_shared<std::string>();
  parser.add_option("SHELL", *shell, fmt::format("{}", fmt::join(completed_shells(), ", ")))
      .type_name("")
      .offers(completed_shells());
  return [shell, &environment] {
    if (environment.program.empty()) return print_script(*shell);
    write_stdout(offers_text(offers_for(environment.commands(), environment.program)));
    return 0;
  };
}

}  // namespace ohm::cli
