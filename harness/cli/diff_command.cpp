#include "harness/cli/diff_command.h"

#include <memory>
#include <string>

#include "harness/cli/style_options.h"
#include "harness/cli/terminal.h"
#include "reports/console/result_diff_text.h"
#include "reports/history/result_diff.h"
#include "reports/json/diff_json.h"
#include "reports/json/result_input.h"

namespace ohm::cli {

namespace {

struct DiffArguments {
  std::string before;
  std::string after;
  StyleOptions style;
  bool json = false;
  bool exit_code = false;
};

int diff(const DiffArguments& arguments) {
  if (arguments.before.empty() || arguments.after.empty()) {
    throw UsageError("name two results, as in ohm diff before.json after.json");
  }
  const bool color = wants_color(arguments.style.color);
  const RunResult before = reports::read_result_or_snapshot(arguments.before);
  const RunResult after = reports::read_result_or_snapshot(arguments.after);
  const reports::ResultDiff difference = reports::diff_results(before, after);
  if (arguments.json) {
    print_text(reports::diff_json(difference), reports::kAsJson);
  } else {
    print_text(reports::diff_text(difference, color));
  }
  const bool fails = arguments.exit_code && !difference.variants.empty();
  return exit_code(fails ? ExitReason::failed : ExitReason::passed).code;
}

}  // namespace

std::function<int()> setup_diff(const OptionParser& parser, const Environment& /*environment*/) {
  const auto arguments = std::make_shared<DiffArguments>();
  parser
      .add_option("BEFORE", arguments->before,
                  "A result (written by --report json=PATH), or a PyTorch memory snapshot")
      .type_name("");
  parser.add_option("AFTER", arguments->after, "The result or snapshot to compare with it")
      .type_name("");
  parser.add_flag("--json", arguments->json, "Print JSON (ohm.diff/1)");
  parser.add_flag("--exit-code", arguments->exit_code, "Exit with 1 if there is a difference");
  add_color_option(parser, arguments->style);
  return [arguments] { return diff(*arguments); };
}

}  // namespace ohm::cli
