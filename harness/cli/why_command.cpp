#include "harness/cli/why_command.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/cli/terminal.h"
#include "harness/cli/text_input.h"
#include "harness/replay/replayed_fix.h"
#include "reports/console/why_text.h"
#include "reports/json/result_input.h"
#include "reports/model/exit_code.h"
#include "reports/text/crash_log.h"

namespace ohm::cli {

namespace {

struct WhyArguments {
  std::string file;
};

int why_of_result(const std::string& file) {
  RunResult result = reports::read_result_or_snapshot(file);
  VariantResult* const variant = reports::why_variant(result);
  const bool is_snapshot = reports::is_pickle(file);
  const engine::ReplayedFix fix = is_snapshot && variant != nullptr
                                      ? engine::replayed_fix(file, *variant)
                                      : engine::ReplayedFix();
  if (variant != nullptr && variant->conclusion) {
    variant->conclusion->is_proved = fix.serves_request;
  }
  print_text(reports::why_text(result, fix.text, terminal_columns()));
  return exit_code(ExitReason::passed).code;
}

/// A log may begin with a line of JSON; a result is one object with this key.
bool is_result(std::string_view text) {
  return text.starts_with('{') && text.find("\"ohm.result/1\"") != std::string_view::npos;
}

int why_of_text(const std::string& file, const std::string& text) {
  const std::optional<reports::CrashLog> log = reports::parse_crash_log(text);
  if (!log) {
    print_error(
        fmt::format("unknown: nothing in {} is recognised. Known are the out-of-memory messages of "
                    "{}; memory snapshots of PyTorch; results of ohm",
                    is_stdin(file) ? "standard input" : file, reports::known_sources()));
    return exit_code(ExitReason::nothing_selected).code;
  }
  print_text(reports::why_text(*log, terminal_columns()));
  return exit_code(ExitReason::passed).code;
}

int why(const WhyArguments& arguments) {
  if (!is_stdin(arguments.file) && reports::is_pickle(arguments.file)) {
    return why_of_result(arguments.file);
  }
  const std::string text = read_text_input(arguments.file, "");
  if (!is_stdin(arguments.file) && is_result(text)) return why_of_result(arguments.file);
  return why_of_text(arguments.file, text);
}

}  // namespace

std::string why_hint(const std::string& file) {
  constexpr std::array<std::string_view, 7> kEndings = {".log", ".txt",    ".out", ".err",
                                                        ".py",  ".pickle", ".pkl"};
  for (const std::string_view ending : kEndings) {
    if (!file.ends_with(ending)) continue;
    if (ending == ".py") {
      return fmt::format(
          "; ohm exec -- python {} runs a program, and ohm why LOG explains what it printed", file);
    }
    return fmt::format("; ohm why {} explains it", file);
  }
  return "";
}

std::function<int()> setup_why(const OptionParser& parser, const Environment& /*environment*/) {
  const auto arguments = std::make_shared<WhyArguments>();
  parser
      .add_option(
          "FILE", arguments->file,
          "A log, a PyTorch memory snapshot, or a result (--report json=PATH); - or nothing: "
          "standard input")
      .type_name("");
  return [arguments] { return why(*arguments); };
}

}  // namespace ohm::cli
