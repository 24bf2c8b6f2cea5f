#include "harness/cli/diff_command.h"

#include <memory>
#include <string>

#include "allocator_shim/snapshot/pickle_reader.h"
#include "harness/cli/terminal.h"
#include "reports/json/result_diff.h"
#include "reports/json/result_input.h"
#include "reports/json/result_reader.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

struct DiffArguments {
  std::string before;
  std::string after;
  std::string color = "auto";
  bool json = false;
  bool exit_code = false;
};

int diff(const DiffArguments& arguments) {
  if (arguments.before.empty() || arguments.after.empty()) {
    throw UsageError("name two results, as in ohm diff before.json after.json");
  }
  const bool color = wants_color(arguments.color);
  try {
    const RunResult before = reports::read_result_or_snapshot(arguments.before);
    const RunResult after = reports::read_result_or_snapshot(arguments.after);
    const reports::ResultDiff difference = reports::diff_results(before, after);
    write_stdout(arguments.json ? reports::diff_json(difference)
                                : reports::diff_text(difference, color));
    const bool fails = arguments.exit_code && !difference.variants.empty();
    return exit_code(fails ? ExitReason::failed : ExitReason::passed).code;
  } catch (const reports::ResultError& error) {
    print_error(reports::printable(error.what()));
  } catch (const PickleError& error) {
    print_error(reports::printable(error.what()));
  }
  return exit_code(ExitReason::script_error).code;
}

}  // namespace

std::function<int()> setup_diff(CLI::App& app, const Environment& /*environment*/) {
  const auto arguments = std::make_shared<DiffArguments>();
  app.add_option("BEFORE", arguments->before,
                 "A result (what --report json=PATH wrote), or a memory snapshot of PyTorch's")
      ->type_name("");
  app.add_option("AFTER", arguments->after, "Another one")->type_name("");
  app.add_flag("--json", arguments->json, "For programs (ohm.diff/1)");
  app.add_flag("--exit-code", arguments->exit_code, "Fail (1) where there is a difference");
  app.add_option("--color", arguments->color, "auto, always or never")->type_name("WHEN");
  return [arguments] { return diff(*arguments); };
}

}  // namespace ohm::cli
