#include "harness/exec/cuda_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "harness/exec/function_names.h"
#include "harness/exec/line_table.h"
#include "reports/history/cut_history.h"
#include "reports/history/native_frames.h"

namespace ohm::engine {

namespace {

constexpr std::uint64_t kBlockUnit = 512;
constexpr std::size_t kInjectedDetail = 1;

std::uint64_t in_units(std::uint64_t bytes) {
  return (bytes + kBlockUnit - 1) / kBlockUnit * kBlockUnit;
}

class SnapshotMaker {
 public:
  explicit SnapshotMaker(const CudaRecord& record) : record_(record) {}

  CudaSnapshot make() {
    snapshot().details.resize(2);
    snapshot().details[kInjectedDetail].user_metadata = tables().intern(kInjectedNote);
    annotate(reports::kNativeProgramNote);
    if (record_.dropped > 0) annotate(reports::kDroppedByExec);
    add_stacks();
    add_segments();
    add_events();
    return std::move(made_);
  }

 private:
  Snapshot& snapshot() { return made_.snapshot; }
  StackTable& tables() { return made_.snapshot.tables; }

  void annotate(std::string_view name) {
    SnapshotAnnotation& note = snapshot().external_annotations.emplace_back();
    note.name = tables().intern(name);
    note.stage = tables().intern("START");
    note.time_us = 0;
  }

  // ---- stacks ----

  StackFrame cuda_function(const HostFrame& frame) {
    std::string name = functions_.of(frame.module).name_at(frame.address - 1);
    constexpr std::string_view kVersion = "_v2";
    if (name.ends_with(kVersion)) name.resize(name.size() - kVersion.size());
    return {tables().intern(reports::kCudaFunctionFile), tables().intern(name), 0};
  }

  /// The address is where the call returns to: that may be another function's.
  StackFrame frame_of(const HostFrame& frame) {
    if (frame.module.empty()) return {kNoText, tables().intern("code made by the program"), 0};
    const std::uint64_t address = frame.address - 1;
    const FunctionNames& names = functions_.of(frame.module);
    std::string function = names.name_at(address);
    // Lines of the interpreter are nobody's: its file says what it is.
    const SourceLine source = reports::is_of_interpreter(frame.module)
                                  ? SourceLine()
                                  : lines_.of(frame.module).at(address);
    if (function.empty()) {
      const std::string module = std::filesystem::path(frame.module).filename();
      function = fmt::format("{}+{:#x}", module, frame.address);
    } else if (source.file.empty()) {
      function += fmt::format("+{:#x}", names.offset_at(address) + 1);
    }
    const std::string file = source.file.empty()
                                 ? frame.module
                                 : std::filesystem::path(source.file).lexically_normal().string();
    return {tables().intern(file), tables().intern(function), source.line};
  }

  void add_stacks() {
    for (const std::vector<HostFrame>& calls : record_.stacks) {
      std::vector<FrameId> frames;
      for (const HostFrame& call : calls) {
        frames.push_back(tables().intern(frames.empty() ? cuda_function(call) : frame_of(call)));
      }
      stacks_.push_back(tables().intern(frames));
      add_place(frames);
    }
  }

  void add_place(const std::vector<FrameId>& frames) {
    CudaPlace& place = made_.places.emplace_back();
    if (frames.empty()) return;
    place.call = tables().text(tables().frame(frames.front()).name);
    const auto named = reports::named_native_frame(tables(), stacks_.back());
    if (!named) return;
    const StackFrame& frame = tables().frame(frames[*named]);
    place.function = tables().text(frame.name);
    place.file = tables().text(frame.filename);
    place.line = frame.line;
    if (*named + 1 >= frames.size()) return;
    const StackFrame& caller = tables().frame(frames[*named + 1]);
    place.caller = tables().text(caller.name);
    place.caller_file = tables().text(caller.filename);
    place.caller_line = caller.line;
  }

  StackId stack(std::size_t index) const {
    return index < stacks_.size() ? stacks_[index] : kNoStack;
  }

  // ---- memory ----

  void add_segments() {
    std::map<std::uint64_t, const CudaBlock*> blocks;
    for (const CudaBlock& block : record_.blocks) blocks[block.address] = &block;
    for (const CudaBlock& one : record_.segments) {
      SnapshotSegment& segment = snapshot().segments.emplace_back();
      segment.device = static_cast<std::int32_t>(one.device);
      segment.address = one.address;
      segment.bytes = one.bytes;
      const std::uint64_t end = one.address + one.bytes;
      std::uint64_t used = one.address;
      for (auto block = blocks.lower_bound(used); block != blocks.end() && block->first < end;
           ++block) {
        add_free(block->first - used, used, segment);
        used = add_block(*block->second, segment);
      }
      add_free(end - used, used, segment);
    }
  }

  static void add_free(std::uint64_t bytes, std::uint64_t address, SnapshotSegment& segment) {
    if (bytes == 0) return;
    segment.blocks.push_back({address, bytes, 0, kNoStack, kNoText, BlockView::State::inactive});
  }

  /// Where it ends.
  std::uint64_t add_block(const CudaBlock& block, SnapshotSegment& segment) const {
    const std::uint64_t left = segment.address + segment.bytes - block.address;
    const std::uint64_t bytes = std::min(in_units(block.bytes), left);
    segment.allocated_bytes = segment.active_bytes += bytes;
    segment.requested_bytes += block.bytes;
    if (segment.blocks.empty()) segment.stack = stack(block.stack);
    segment.blocks.push_back({block.address, bytes, block.bytes, stack(block.stack), kNoText,
                              BlockView::State::active_allocated});
    return block.address + bytes;
  }

  void add_events() {
    snapshot().device_traces.resize(record_.devices.size());
    for (const CudaEvent& event : record_.events) {
      made_.events_before.push_back(time_);
      if (event.device >= record_.devices.size()) continue;
      switch (event.action) {
        case CudaEvent::Action::alloc:
          add_entry(event, EventAction::alloc);
          break;
        case CudaEvent::Action::free:
          add_entry(event, EventAction::free_requested);
          add_entry(event, EventAction::free_completed);
          break;
        case CudaEvent::Action::segment_alloc:
          add_entry(event, EventAction::segment_alloc);
          break;
        case CudaEvent::Action::segment_free:
          add_entry(event, EventAction::segment_free);
          break;
        case CudaEvent::Action::out_of_memory:
          add_entry(event, EventAction::oom);
          break;
      }
    }
    made_.events_before.push_back(time_);
  }

  void add_entry(const CudaEvent& event, EventAction action) {
    TraceEntry& entry = snapshot().device_traces[event.device].emplace_back();
    entry.address = event.address;
    entry.bytes = event.bytes;
    entry.time_us = ++time_;
    entry.stack = stack(event.stack);
    entry.action = action;
    if (event.is_by_plan) entry.detail = kInjectedDetail;
  }

  const CudaRecord& record_;
  CudaSnapshot made_;
  ProgramFunctions functions_;
  ProgramLines lines_;
  std::vector<StackId> stacks_;
  std::int64_t time_ = 0;
};

}  // namespace

CudaSnapshot cuda_snapshot(const CudaRecord& record) { return SnapshotMaker(record).make(); }

}  // namespace ohm::engine
