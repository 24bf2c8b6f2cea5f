#include "reports/json/result_input.h"

#include <fmt/format.h>

#include <system_error>

#include "allocator_shim/base/no_memory.h"
#include "allocator_shim/snapshot/snapshot_reader.h"
#include "reports/history/snapshot_result.h"
#include "reports/json/result_reader.h"

namespace ohm::reports {

bool is_pickle(InputFile& file, const std::string& path) {
  // One that is damaged or empty is told so as a snapshot, and not as JSON.
  return file.beginning(1) == "\x80" || path.ends_with(".pickle");
}

bool is_pickle(const std::string& path) {
  try {
    InputFile file(path);
    // What is read from a pipe is gone from it.
    return file.bytes() ? is_pickle(file, path) : path.ends_with(".pickle");
  } catch (const std::system_error&) {
    return false;
  }
}

namespace {

template <class Read>
auto read_opened(const std::string& path, Read&& read) {
  try {
    InputFile file(path);
    return read(file);
  } catch (const std::system_error& error) {
    throw ResultError(fmt::format("cannot read {}: {}", path, error.code().message()));
  }
}

}  // namespace

RunResult read_result_or_snapshot(const std::string& path) {
  return read_opened(path, [&](InputFile& file) { return read_result_or_snapshot(file, path); });
}

RunResult read_result_or_snapshot(InputFile& file, const std::string& path) {
  return reading(path, [&] {
    return is_pickle(file, path) ? snapshot_result(read_snapshot_file(file, path), path)
                                 : read_result_file(file, path);
  });
}

std::variant<RunResult, VerificationResult> read_report_input(const std::string& path) {
  using Either = std::variant<RunResult, VerificationResult>;
  return read_opened(path, [&](InputFile& file) -> Either {
    if (is_pickle(file, path)) return read_result_or_snapshot(file, path);
    return reading(path, [&] { return read_run_or_verification(file, path); });
  });
}

}  // namespace ohm::reports
