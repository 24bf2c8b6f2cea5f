#include "reports/json/result_input.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "reports/history/snapshot_result.h"
#include "reports/json/result_reader.h"

namespace ohm::reports {

bool is_pickle(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return false;
  std::ifstream file(path, std::ios::binary);
  // One that is damaged or empty is told so as a snapshot, and not as JSON.
  return file.get() == 0x80 || (file.is_open() && path.ends_with(".pickle"));
}

RunResult read_result_or_snapshot(const std::string& path) {
  if (!is_pickle(path)) return read_result_file(path);
  return snapshot_result(read_snapshot_file(path), path);
}

}  // namespace ohm::reports
