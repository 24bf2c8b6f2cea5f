#include "harness/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "allocator_shim/base/cut_text.h"
#include "harness/cli/command.h"
#include "reports/text/paint.h"
#include "reports/text/report_file.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool is_dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term != nullptr && std::string_view(term) == "dumb";
}

bool shows_color(int descriptor) {
  return ::isatty(descriptor) != 0 && !is_dumb_terminal() && !is_set("NO_COLOR");
}

std::string for_logs(std::string_view text, const reports::CommandSpelling& spelling) {
  const char* const runner = std::getenv("GITHUB_ACTIONS");
  const bool is_log = runner != nullptr && std::string_view(runner) == "true";
  return is_log ? reports::without_workflow_commands(text, spelling) : std::string(text);
}

}  // namespace

bool wants_color(const std::string& choice) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  if (choice == "auto") return shows_color(STDOUT_FILENO);
  throw UsageError(fmt::format("--color must be auto, always or never, not \"{}\"", choice));
}

std::size_t terminal_columns() {
  constexpr std::size_t kWithoutTerminal = 100;
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kWithoutTerminal;
  return std::clamp<std::size_t>(size.ws_col, 80, 160);
}

bool is_stderr_animated() {
  return ::isatty(STDERR_FILENO) != 0 && !is_dumb_terminal() && !is_set("CI");
}

void write_stdout(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw UsageError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
}

void print_text(std::string_view text, const reports::CommandSpelling& spelling) {
  write_stdout(for_logs(text, spelling));
}

void write_file(const std::string& path, std::string_view text) {
  try {
    reports::ReportFile(path).commit(text);
  } catch (const std::runtime_error& error) {
    throw UsageError(error.what());
  }
}

void write_stderr(std::string_view text) {
  write_workflow_commands(for_logs(text, reports::kForPeople));
}

void write_workflow_commands(std::string_view commands) {
  std::fwrite(commands.data(), 1, commands.size(), stderr);
}

void print_error(std::string_view message) {
  const std::string prefix =
      reports::painted("ohm: ", reports::Tone::bad, shows_color(STDERR_FILENO));
  const std::string text = reports::printable(cut_text(std::string(message)));
  write_stderr(fmt::format("{}{}\n", prefix, text));
}

void print_hint(std::string_view hint) {
  if (!hint.empty()) write_stderr(fmt::format("     {}\n", reports::printable(hint)));
}

}  // namespace ohm::cli
