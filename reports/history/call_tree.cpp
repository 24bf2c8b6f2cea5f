#include "reports/history/call_tree.h"

#include <string>
#include <string_view>
#include <utility>

#include "reports/text/library_file.h"

namespace ohm::reports {

std::uint32_t CallTree::of(StackId stack) {
  const auto& frames = tables_.stack(stack);
  std::uint32_t call = 0;
  for (std::size_t i = frames.size(); i-- > 0;) {
    const std::uint32_t line = line_of(frames[i]);
    const std::uint64_t key = std::uint64_t{call} << 32 | line;
    const auto [known, is_new] =
        call_ids_.try_emplace(key, static_cast<std::uint32_t>(calls_.size() + 1));
    if (is_new) calls_.push_back({line, call});
    call = known->second;
  }
  return call;
}

std::uint32_t CallTree::caller(std::uint32_t call, std::size_t further_out) const {
  for (; call != 0 && further_out > 0; --further_out) call = calls_[call - 1].caller;
  return call;
}

std::uint32_t CallTree::line_of(FrameId frame) {
  const auto [known, is_new] =
      line_ids_.try_emplace(frame, static_cast<std::uint32_t>(lines_.size()));
  if (is_new) {
    const StackFrame& one = tables_.frame(frame);
    const std::string_view file = tables_.text(one.filename);
    const bool is_own = is_source_file(file) && files_.ownership(file) == Ownership::own;
    lines_.push_back({std::string(file), one.line, std::string(tables_.text(one.name)), is_own});
  }
  return known->second;
}

void CallTree::move_to(MemoryHistory& history) {
  history.lines = std::move(lines_);
  history.calls = std::move(calls_);
}

const HistoryLine* common_own_line(const MemoryHistory& history,
                                   const std::vector<std::uint32_t>& calls) {
  if (calls.empty()) return nullptr;
  std::uint32_t common = calls.front();
  for (std::uint32_t call : calls) {
    // Who calls stands before what it calls.
    while (call != common) {
      std::uint32_t& inner = call > common ? call : common;
      inner = history.calls[inner - 1].caller;
    }
  }
  while (common != 0 && !history.lines[history.calls[common - 1].line].is_own) {
    common = history.calls[common - 1].caller;
  }
  return common == 0 ? nullptr : &history.lines[history.calls[common - 1].line];
}

}  // namespace ohm::reports
