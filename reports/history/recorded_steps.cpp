#include "reports/history/recorded_steps.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

namespace ohm::reports {

namespace {

/// "Iteration #12" and "iteration #13" are one name: "iteration #".
std::string without_numbers(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isdigit(byte) == 0) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// How much a name is a step's; 0: not at all.
int rank_of(std::string_view name) {
  if (contains(name, "profilerstep")) return 3;
  if (contains(name, "optimizer")) return contains(name, ".step") ? 1 : 0;
  return contains(name, "step") || contains(name, "iteration") ? 2 : 0;
}

/// The outermost frame first.
std::vector<FrameId> from_outside(const StackTable& tables, StackId id) {
  const auto stack = tables.stack(id);
  return {std::make_reverse_iterator(stack.end()), std::make_reverse_iterator(stack.begin())};
}

/// One call that all stacks are in, and the calls around it, the outermost first. At the innermost
/// of them a function may have got to different lines.
std::vector<FrameId> common_calls(const StackTable& tables, const std::set<StackId>& stacks) {
  std::vector<FrameId> common = from_outside(tables, *stacks.begin());
  std::size_t equal = common.size();  // frames that are the same in all stacks
  for (const StackId id : stacks) {
    const std::vector<FrameId> frames = from_outside(tables, id);
    const auto parted = std::mismatch(common.begin(), common.end(), frames.begin(), frames.end());
    equal = std::min(equal, static_cast<std::size_t>(parted.first - common.begin()));
  }
  const auto is_same_function = [&](StackId id) {
    const std::vector<FrameId> frames = from_outside(tables, id);
    if (equal >= frames.size()) return false;
    const StackFrame& frame = tables.frame(frames[equal]);
    const StackFrame& first = tables.frame(common[equal]);
    return frame.name == first.name && frame.filename == first.filename;
  };
  const bool has_more =
      equal < common.size() && std::all_of(stacks.begin(), stacks.end(), is_same_function);
  common.resize(equal + (has_more ? 1 : 0));
  return common;
}

}  // namespace

std::vector<std::uint32_t> marked_steps(
    const Snapshot& snapshot, const std::function<std::uint32_t(std::int64_t)>& event_at) {
  std::string chosen;
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    const std::string name = without_numbers(snapshot.tables.text(annotation.name));
    if (rank_of(name) > rank_of(chosen)) chosen = name;
  }
  std::vector<std::uint32_t> events;
  if (chosen.empty()) return events;
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    const bool is_end = snapshot.tables.text(annotation.stage) == "END" &&
                        without_numbers(snapshot.tables.text(annotation.name)) == chosen;
    if (is_end) events.push_back(event_at(annotation.time_us));
  }
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

bool is_inside_of_a_module(const StackTable& tables, const std::vector<StackId>& stacks) {
  std::set<StackId> different(stacks.begin(), stacks.end());
  different.erase(kNoStack);
  if (different.empty()) return false;
  const auto is_of_module = [&](FrameId id) {
    const std::string_view name = tables.text(tables.frame(id).name);
    return name == "forward" || name == "backward";
  };
  const std::vector<FrameId> common = common_calls(tables, different);
  if (!common.empty()) return std::any_of(common.begin(), common.end(), is_of_module);
  // Stacks that were cut off do not show what called them.
  return std::all_of(different.begin(), different.end(), [&](StackId id) {
    const auto frames = tables.stack(id);
    return std::any_of(frames.begin(), frames.end(), is_of_module);
  });
}

}  // namespace ohm::reports
