#include "harness/exec/failure_cause.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace ohm::engine {

namespace {

constexpr std::string_view kTraceback = "Traceback (most recent call last):";

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// "package.SomeError" of "package.SomeError: why", or of a line that is nothing else; empty: the
/// line begins otherwise.
std::string_view exception_name(std::string_view line) {
  const auto* const end = std::find_if_not(line.begin(), line.end(), is_name_character);
  const std::string_view name = line.substr(0, static_cast<std::size_t>(end - line.begin()));
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return {};
  const std::string_view rest = line.substr(name.size());
  return rest.empty() || rest == ":" || rest.starts_with(": ") ? name : std::string_view();
}

/// With what comes behind it, as in the errors of programs that print them without a traceback.
bool is_error(std::string_view line) {
  constexpr std::array<std::string_view, 3> kEndings = {"Error", "Exception", "Interrupt"};
  const std::string_view name = exception_name(line);
  return name.size() < line.size() &&
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

/// As tqdm draws them, with or without a bar.
bool is_progress_bar(std::string_view line) {
  constexpr std::array<std::string_view, 2> kRates = {"it/s]", "s/it]"};
  const std::size_t percent = line.find("%|");
  if (percent != std::string_view::npos && line.find('|', percent + 2) != std::string_view::npos) {
    return true;
  }
  const std::size_t end = line.find_last_not_of(' ');
  const std::string_view text = line.substr(0, end == std::string_view::npos ? 0 : end + 1);
  return std::any_of(kRates.begin(), kRates.end(),
                     [&](std::string_view rate) { return text.ends_with(rate); });
}

/// torchrun may put the rank before what a process prints: "[rank0]: ".
std::string_view without_rank(std::string_view line) {
  if (!line.starts_with("[rank")) return line;
  const std::size_t end = line.find("]: ");
  return end == std::string_view::npos ? line : line.substr(end + 3);
}

class PrintedLines {
 public:
  void add(std::string_view line) {
    while (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t overwritten = line.rfind('\r');
    const bool is_rewritten = overwritten != std::string_view::npos;
    if (is_rewritten) line.remove_prefix(overwritten + 1);
    line = without_rank(line);
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    // A traceback may begin behind a bar.
    if (is_progress_bar(line) && !line.ends_with(kTraceback)) return;
    follow(line);
    if (!is_rewritten) last_line_ = line;
  }

  std::string cause() const { return std::string(exception_.empty() ? last_line_ : exception_); }

 private:
  void follow(std::string_view line) {
    if (line.starts_with("Exception ignored")) {
      is_ignored_ = true;
    } else if (line.ends_with(kTraceback)) {
      is_in_traceback_ = true;
    } else if (line.front() != ' ' && line.front() != '\t') {
      const bool is_exception =
          is_error(line) || (is_in_traceback_ && !exception_name(line).empty());
      if (is_exception && !is_ignored_) take(line);
      // What Python says of an ignored one before its traceback may take several lines.
      if (is_exception || is_in_traceback_) is_ignored_ = is_in_traceback_ = false;
    }
  }

  /// One that says nothing itself, as of a launcher, does not replace what a process said.
  void take(std::string_view line) {
    if (exception_.empty() || !line.ends_with(':')) exception_ = line;
  }

  std::string_view last_line_;
  std::string_view exception_;
  bool is_in_traceback_ = false;
  bool is_ignored_ = false;
};

}  // namespace

std::string failure_cause(std::string_view printed) {
  PrintedLines lines;
  while (!printed.empty()) {
    const std::size_t end = std::min(printed.find('\n'), printed.size());
    lines.add(printed.substr(0, end));
    printed.remove_prefix(std::min(end + 1, printed.size()));
  }
  return lines.cause();
}

}  // namespace ohm::engine
