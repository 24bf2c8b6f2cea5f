#include "harness/cli/value_option.h"

#include <stdexcept>

#include "harness/cli/command.h"

namespace ohm::cli {

namespace {

std::string wrong_selection(const std::string& text) {
  try {
    engine::check_assumed_selection(text);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

}  // namespace

void add_value_options(const OptionParser& parser, engine::ValueOptions& options,
                       const std::string& before) {
  parser
      .add_option("--values", options.values,
                  before +
                      "Values on virtual GPUs: none (not tracked), known (track which ones are "
                      "known; default), or cpu (compute them on the CPU)")
      .type_name("WHICH")
      .one_of({"none", "known", "cpu"});
  parser
      .add_option(
          "--assume-selected", options.assumed_selection,
          before + "Share of rows that a mask of unknown values selects, from 0 to 1, or max")
      .type_name("FRACTION")
      .check(wrong_selection);
}

void add_allow_unknown_values_option(const OptionParser& parser, bool& allows) {
  parser.add_flag("--allow-unknown-values", allows,
                  "Judge figures that depend on values that were not computed, too (exit code 3 "
                  "otherwise)");
}

void refuse_value_options(const engine::ValueOptions& options) {
  if (options.are_default()) return;
  throw UsageError("--values and --assume-selected require a command after --");
}

}  // namespace ohm::cli
