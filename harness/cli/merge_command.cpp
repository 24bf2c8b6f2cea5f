#include "harness/cli/merge_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "allocator_shim/base/no_memory.h"
#include "allocator_shim/base/whole_file.h"
#include "harness/cli/output_paths.h"
#include "harness/cli/terminal.h"
#include "reports/console/verification_text.h"
#include "reports/json/merge.h"
#include "reports/json/result_reader.h"
#include "reports/json/verification_json.h"
#include "reports/model/exit_code.h"

namespace ohm::cli {

namespace fs = std::filesystem;

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

/// Where the reports of this folder are: of a job array in its reports, or there in a folder
/// for each type of cards.
std::vector<fs::path> report_folders(const fs::path& folder) {
  std::error_code unknown;
  const fs::path reports = folder / "reports";
  if (!fs::is_directory(reports, unknown)) return {folder};
  std::vector<fs::path> of_types;
  for (const fs::directory_entry& entry : fs::directory_iterator(reports, unknown)) {
    if (entry.is_directory(unknown)) of_types.push_back(entry.path());
  }
  std::sort(of_types.begin(), of_types.end());
  return of_types.empty() ? std::vector{reports} : of_types;
}

/// Those that are in the folder, by their names.
std::vector<std::string> reports_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  if (error) throw UsageError(fmt::format("cannot read {}: {}", folder.string(), error.message()));
  if (files.empty()) throw UsageError(fmt::format("there is no report in {}", folder.string()));
  std::sort(files.begin(), files.end());
  return files;
}

reports::ReportPart report_in(const std::string& file, const std::string& folder_of_type) {
  return {file, [file] { return text_of(file); }, folder_of_type};
}

/// With the files of each folder in its place.
std::vector<reports::ReportPart> report_parts(const std::vector<std::string>& paths) {
  std::vector<reports::ReportPart> parts;
  for (const fs::path path : paths) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) {
      parts.push_back(report_in(path.string(), {}));
      continue;
    }
    const std::vector<fs::path> folders = report_folders(path);
    for (const fs::path& folder : folders) {
      for (const std::string& file : reports_in(folder)) {
        parts.push_back(report_in(file, folders.size() > 1 ? folder.string() : std::string()));
      }
    }
  }
  return parts;
}

std::vector<std::string> report_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const reports::ReportPart& part : report_parts(paths)) files.push_back(part.name);
  return files;
}

int merge(const MergeArguments& arguments) {
  if (arguments.files.empty()) throw UsageError("name the reports, as in ohm merge 1.json 2.json");
  OutputPaths(report_files(arguments.files)).add("-o " + arguments.output, arguments.output);
  const reports::MergedReport merged = merged_files(arguments.files);
  if (arguments.output.empty()) {
    print_text(merged.json, reports::kAsJson);
  } else {
    write_file(arguments.output, merged.json);
    if (merged.schema == reports::kVerificationSchema) {
      print_text(reports::verification_text(reports::read_verification(merged.json)));
    }
  }
  return exit_code(merged.exit_reason).code;
}

}  // namespace

reports::MergedReport merged_files(const std::vector<std::string>& paths) {
  try {
    return reports::merged_reports(report_parts(paths));
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

std::function<int()> setup_merge(const OptionParser& parser, const Environment& /*environment*/) {
  const auto arguments = std::make_shared<MergeArguments>();
  parser.add_option("FILES", arguments->files, "JSON reports, one per shard, or a folder of them")
      .type_name("");
  parser
      .add_option("-o,--output", arguments->output, "Write to this file instead of standard output")
      .type_name("PATH");
  return [arguments] { return merge(*arguments); };
}

}  // namespace ohm::cli
