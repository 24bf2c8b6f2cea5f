#include "harness/sweep/command/host_end.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/process/current_folder.h"
#include "reports/text/user_files.h"

namespace ohm::engine {

namespace host = interpose::host;

namespace {

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename(); }

/// "python", "python3.11", "libpython3.so" and "python-dbg" are named python, "pythonic" is not.
bool is_named(std::string_view file, std::string_view name) {
  if (file.starts_with("lib")) file.remove_prefix(3);
  if (!file.starts_with(name)) return false;
  file.remove_prefix(name.size());
  return file.empty() || file.find_first_of("-.0123456789") == 0;
}

bool is_python(const std::string& module) { return is_named(file_name(module), "python"); }

bool is_interpreter(const std::string& module) {
  constexpr std::array<std::string_view, 8> kNames = {"perl", "ruby", "lua", "node",
                                                      "php",  "java", "jvm", "guile"};
  const std::string file = file_name(module);
  return is_python(module) ||
         std::any_of(kNames.begin(), kNames.end(),
                     [&file](std::string_view name) { return is_named(file, name); });
}

/// A module that was compiled for Python and did not come with it, or a library of the user's.
bool is_users_module(const std::string& module) {
  const auto has = [&module](std::string_view part) {
    return module.find(part) != std::string::npos;
  };
  if (has("/site-packages/") || has("/dist-packages/")) return true;
  if (has(".cpython-") || has(".abi3.so")) return !has("/lib-dynload/");
  return !is_python(module) && module.starts_with(current_folder() + "/");
}

/// What Python compiles from text has no file.
bool is_of_script(const std::string& file) {
  if (file == "<string>" || file == "<stdin>") return true;
  return reports::UserFiles().ownership(file) != reports::Ownership::library;
}

/// A row: "FILE:LINE\tFUNCTION".
StackLine stack_line(const std::string& row) {
  StackLine line;
  const std::size_t tab = std::min(row.find('\t'), row.size());
  const std::size_t colon = row.rfind(':', tab);
  if (colon == std::string::npos) return line;
  line.file = row.substr(0, colon);
  std::from_chars(row.data() + colon + 1, row.data() + tab, line.line);
  if (tab < row.size()) line.function = row.substr(tab + 1);
  return line;
}

void take_lines(const char* frames, CommandOutcome& outcome) {
  std::istringstream rows{std::string(frames)};
  for (std::string row; std::getline(rows, row);) {
    const StackLine line = stack_line(row);
    if (line.line > 0 && is_of_script(line.file)) {
      outcome.script_lines.push_back(line);
    } else if (outcome.script_lines.empty()) {
      const std::string name = file_name(line.file);
      outcome.is_in_temporary_files |= name == "tempfile.py" || name == "shutil.py";
    }
  }
}

/// `has_failed`: it ended with an error, and so it need not have kept pointers to what it has.
LeftMemoryResult left_memory(const host::MemoryLeft& left, bool has_failed,
                             const HostSites& sites) {
  const auto [lost_bytes, lost_point] = has_failed
                                            ? std::pair(left.abandoned_bytes, left.abandoned_point)
                                            : std::pair(left.lost_bytes, left.lost_point);
  LeftMemoryResult result;
  result.is_lost = lost_bytes > 0;
  result.bytes = static_cast<std::int64_t>(result.is_lost ? lost_bytes : left.kept_bytes);
  const auto function = sites.functions.find(result.is_lost ? lost_point : left.kept_point);
  if (function != sites.functions.end()) result.function = function->second;
  return result;
}

std::string first_line_of(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  return std::string(text.substr(0, text.find('\n')));
}

/// From its messages, what kind of end it was.
void take_message(const CountedCommand& counted, const HostEnd& end, CommandOutcome& outcome) {
  const std::string message = first_line_of(end.message);
  const std::string said =
      message.empty() ? ", with no error message" : fmt::format(", with \"{}\"", message);
  outcome.checked = end.has_same_output ? counted.outcome.checked : "another output" + said;
  if (end.status == counted.outcome.status) return;
  ErrorResult& error = outcome.error.emplace();
  error.message = message;
  outcome.is_out_of_memory = !message.empty();
  if (!message.empty()) return;
  outcome.is_foreign = true;
  error.message = fmt::format("it ended with status {} and no message", end.status);
}

}  // namespace

std::string python_of(const HostSite& site) {
  std::string interpreter;
  for (const HostFrame& frame : site.frames) {
    if (is_users_module(frame.module)) return {};
    if (is_python(frame.module)) interpreter = file_name(frame.module);
  }
  return interpreter;
}

bool is_of_interpreter(const HostSite& site) {
  return std::any_of(site.frames.begin(), site.frames.end(),
                     [](const HostFrame& frame) { return is_interpreter(frame.module); });
}

HostEnd end_of(const host::SweptFault& fault) {
  HostEnd end;
  end.is_overdue = fault.end == host::FaultEnd::hung;
  end.signal = WIFSIGNALED(fault.status) ? WTERMSIG(fault.status) : 0;
  end.status = end.signal != 0 ? 128 + end.signal : WEXITSTATUS(fault.status);
  end.has_same_output = fault.has_same_output != 0;
  if (fault.has_same_errors == 0) end.message = fault.message.data();
  return end;
}

CommandOutcome outcome_of(const CountedCommand& counted, const HostEnd& end,
                          const host::SweptFault& fault, const HostSites& sites) {
  CommandOutcome outcome;
  outcome.status = end.status;
  outcome.signal = end.signal;
  outcome.is_overdue = end.is_overdue;
  outcome.failures = 1;
  take_lines(fault.frames.data(), outcome);
  const auto interpreter = sites.interpreters.find(fault.point);
  if (interpreter != sites.interpreters.end()) outcome.interpreter = interpreter->second;
  if (sites.are_judged_by_memory) {
    const bool has_failed = end.status != counted.outcome.status;
    outcome.left_memory = left_memory(fault.left, has_failed, sites);
  }
  take_message(counted, end, outcome);
  return outcome;
}

}  // namespace ohm::engine
