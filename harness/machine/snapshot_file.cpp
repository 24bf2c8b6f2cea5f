#include "harness/machine/snapshot_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "allocator_shim/snapshot/snapshot_writer.h"
#include "reports/text/report_file.h"

namespace ohm::engine {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw std::invalid_argument(fmt::format("a script may not write {}: {}", path, why));
}

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

}  // namespace

void write_snapshot_file(const Snapshot& snapshot, const std::string& path) {
  reports::ReportFile file(path);
  write_snapshot(snapshot, [&](std::string_view bytes) { file.write(bytes); });
  file.commit();
}

void check_script_snapshot_path(const std::string& path) {
  const fs::path wanted(path);
  if (wanted.extension() != ".pickle") refuse(path, "the name of a snapshot ends in .pickle");
  if (path.find('\0') != std::string::npos) refuse(path, "the name contains a NUL byte");
  // Links are followed, so that none leads out.
  std::error_code error;
  const fs::path folder =
      fs::canonical(wanted.has_parent_path() ? wanted.parent_path() : ".", error);
  if (error) refuse(path, fmt::format("its folder: {}", error.message()));
  if (wanted.is_absolute() || !is_below(folder, fs::canonical("."))) {
    refuse(path,
           "snapshots of scripts go to the current folder or below it (--snapshot writes "
           "anywhere)");
  }
  const fs::file_status status = fs::symlink_status(wanted, error);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status)) refuse(path, "it exists and is not a regular file");
  try {
    read_snapshot_file(path);
  } catch (const std::exception&) {
    refuse(path, "it exists and is not a memory snapshot");
  }
}

}  // namespace ohm::engine
