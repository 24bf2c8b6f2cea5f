#include "harness/cli/merge_command.h"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "allocator_shim/base/no_memory.h"
#include "allocator_shim/base/whole_file.h"
#include "harness/cli/output_paths.h"
#include "harness/cli/terminal.h"
#include "reports/json/merge.h"
#include "reports/model/exit_code.h"

namespace ohm::cli {

namespace {

struct MergeArguments {
  std::vector<std::string> files;
  std::string output;
};

std::string text_of(const std::string& path) {
  try {
    return reading(path, [&] { return read_whole_file(path); });
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format("cannot read {}: {}", path, error.code().message()));
  }
}

int merge(const MergeArguments& arguments) {
  if (arguments.files.empty()) throw UsageError("name the reports, as in ohm merge 1.json 2.json");
  OutputPaths(arguments.files).add("-o " + arguments.output, arguments.output);
  std::vector<reports::ReportPart> parts;
  for (const std::string& file : arguments.files) parts.push_back({file, text_of(file)});
  reports::MergedReport merged;
  try {
    merged = reports::merged_reports(parts);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  if (arguments.output.empty()) {
    print_text(merged.json, reports::kAsJson);
  } else {
    write_file(arguments.output, merged.json);
  }
  return exit_code(merged.exit_reason).code;
}

}  // namespace

std::function<int()> setup_merge(CLI::App& app, const Environment& /*environment*/) {
  const auto arguments = std::make_shared<MergeArguments>();
  app.add_option("FILES", arguments->files, "JSON reports, one per shard")->type_name("");
  app.add_option("-o,--output", arguments->output, "Write to this file instead of standard output")
      ->type_name("PATH");
  return [arguments] { return merge(*arguments); };
}

}  // namespace ohm::cli
