#include "harness/exec/unwritten_records.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace ohm::engine {

namespace {

/// Whether this process is still there, and no zombie.
bool still_runs(int process) {
  if (process <= 0 || (kill(process, 0) != 0 && errno != EPERM)) return false;
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  // The state stands behind the name, which is in parentheses and may have some itself.
  const std::size_t name_end = line.rfind(')');
  return name_end == std::string::npos || line.compare(name_end, 3, ") Z") != 0;
}

}  // namespace

std::map<std::string, std::string> unwritten_records(const std::string& folder) {
  // As harness/record/ohm_record_files.py and libohm_host.so name them.
  constexpr std::string_view kMark = ".unwritten-";
  std::map<std::string, std::string> records;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    const std::string name = entry.path().filename();
    const std::size_t mark = name.find(kMark);
    if (mark == std::string::npos) continue;
    int error = EIO;
    const char* const digits = name.data() + mark + kMark.size();
    std::from_chars(digits, name.data() + name.size(), error);
    records[name.substr(0, name.find('.'))] = std::strerror(error);
  }
  return records;
}

std::string reason_of_no_record(int process) {
  return still_runs(process)
             ? fmt::format("process {} still runs: it writes its record when it ends", process)
             : fmt::format("process {} ended before it could write its record", process);
}

}  // namespace ohm::engine
