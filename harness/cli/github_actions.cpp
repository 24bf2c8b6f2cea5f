#include "harness/cli/github_actions.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "harness/cli/terminal.h"
#include "reports/ci/github_report.h"

namespace ohm::cli {

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// As GitHub wants it: from the root of the checkout.
void make_relative(std::string& path, const fs::path& root) {
  std::error_code unknown;
  const fs::path whole = fs::weakly_canonical(path, unknown);
  if (path.empty() || unknown) return;
  const fs::path relative = whole.lexically_relative(root);
  if (!relative.empty() && *relative.begin() != "..") path = relative.string();
}

RunResult seen_from(const std::string& workspace, const RunResult& result) {
  RunResult local = result;
  std::error_code unknown;
  const fs::path root = fs::weakly_canonical(workspace, unknown);
  if (workspace.empty() || unknown) return local;
  for (ScenarioResult& scenario : local.scenarios) {
    // Its paths are known from the top of its repository.
    if (!scenario.folder.empty()) continue;
    make_relative(scenario.file, root);
    if (scenario.error) make_relative(scenario.error->file, root);
    for (VariantResult& variant : scenario.variants) {
      if (variant.error) make_relative(variant.error->file, root);
      if (variant.oom) make_relative(variant.oom->file, root);
      if (!variant.cause) continue;
      for (CauseLine& line : variant.cause->lines) make_relative(line.file, root);
    }
  }
  return local;
}

void append_summary(const std::string& path, const RunResult& result) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << reports::github_summary(result, {});
  file.close();
  if (!file) print_error(fmt::format("cannot write the step summary to {}", path));
}

}  // namespace

void tell_github(const RunResult& result) {
  if (variable("GITHUB_ACTIONS") != "true") return;
  const RunResult local = seen_from(variable("GITHUB_WORKSPACE"), result);
  write_workflow_commands(reports::github_annotations(local, {}));
  const std::string summary = variable("GITHUB_STEP_SUMMARY");
  if (!summary.empty()) append_summary(summary, local);
}

}  // namespace ohm::cli
