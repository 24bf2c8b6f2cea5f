#include "harness/sweep/command/recovery_notes.h"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/text_layout.h"

namespace ohm::engine {

namespace {

constexpr std::size_t kColumnsOfALine = 60;

/// The first line of `expected` that is not in `printed`, after the ones before it; nothing: what
/// is printed more is no matter.
std::optional<std::string> line_left_out(const std::string& printed, const std::string& expected) {
  std::istringstream lines(printed);
  std::istringstream expected_lines(expected);
  for (std::string wanted; std::getline(expected_lines, wanted);) {
    std::string line;
    while (std::getline(lines, line) && line != wanted) {
    }
    if (!lines) return wanted;
  }
  return {};
}

std::string quoted(const std::string& line) {
  return fmt::format("\"{}\"", reports::shortened(reports::printable(line), kColumnsOfALine));
}

}  // namespace

void RecoveryNotes::add(std::size_t task, const std::string& plan, const CommandOutcome& outcome,
                        const TrialVerdict& verdict) {
  recoveries_.erase(task);
  if (verdict.verdict != FaultVerdict::recovered_same) return;
  Recovery recovery;
  recovery.plan = plan;
  if (!fault_free_.checked) {
    if (fault_free_.printed && outcome.printed) {
      recovery.left_out = line_left_out(*outcome.printed, *fault_free_.printed);
    }
    recovery.was_granted_less = outcome.calls - outcome.failures < fault_free_.calls;
  }
  recovery.more_when_again = outcome.more_when_again;
  recoveries_.emplace(task, std::move(recovery));
}

std::vector<std::string> RecoveryNotes::texts() const {
  std::vector<std::string> found;
  for (std::string text : {of_work(), of_attempts()}) {
    if (!text.empty()) found.push_back("recovered_same: the command " + std::move(text));
  }
  return found;
}

std::string RecoveryNotes::of_work() const {
  std::vector<const Recovery*> silent;
  std::vector<const Recovery*> asking;
  for (const auto& [task, recovery] : recoveries_) {
    if (recovery.left_out) silent.push_back(&recovery);
    if (recovery.was_granted_less) asking.push_back(&recovery);
  }
  std::string text;
  if (!silent.empty()) {
    text +=
        fmt::format("did not print all lines in {} of {} (the first: {}, at {})", silent.size(),
                    recoveries_.size(), quoted(*silent.front()->left_out), silent.front()->plan);
  }
  if (!asking.empty()) {
    text += fmt::format("{}was granted fewer requests in {} of {} (the first: {})",
                        text.empty() ? "" : ", ", asking.size(), recoveries_.size(),
                        asking.front()->plan);
  }
  if (text.empty()) return {};
  return text +
         "; whether its work was done all the same, --check EXPR or ohm.sweep.state() decides";
}

std::string RecoveryNotes::of_attempts() const {
  std::size_t count = 0;
  const Recovery* most = nullptr;
  for (const auto& [task, recovery] : recoveries_) {
    if (recovery.more_when_again == 0) continue;
    ++count;
    if (most == nullptr || recovery.more_when_again > most->more_when_again) most = &recovery;
  }
  if (most == nullptr) return {};
  return fmt::format(
      "had more allocated when it made the failed request again than when it failed, in {} of {} "
      "(the most, {} at {}), as where the failed attempt is alive meanwhile",
      count, recoveries_.size(), human_bytes(static_cast<std::size_t>(most->more_when_again)),
      most->plan);
}

}  // namespace ohm::engine
