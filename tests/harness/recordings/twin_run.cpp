#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "allocator_shim/observe/out_of_memory.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/script_bindings.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/machine/machine.h"
#include "runtime/tensor/context.h"
#include "tests/harness/recordings/recordings.h"
#include "tests/support/golden.h"

namespace ohm::test {
namespace {

// Names every segment by the order in which it came.
class SegmentNames {
 public:
  std::uint64_t add(std::uint64_t address, std::uint64_t bytes) {
    segments_[address] = {count_, bytes, 0};
    return count_++;
  }
  void remove(std::uint64_t address) { segments_.erase(address); }

  struct Place {
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;
  };
  std::optional<Place> find(std::uint64_t address) const {
    auto after = segments_.upper_bound(address);
    if (after == segments_.begin()) return std::nullopt;
    const auto& [base, segment] = *std::prev(after);
    if (address >= base + segment.bytes) return std::nullopt;
    return Place{segment.number, address - base};
  }
  // A mapped range: more of what ends where it begins, or the first of a new one.
  Place map(std::uint64_t address, std::uint64_t bytes) {
    const Place place = place_of_range(address, bytes);
    Segment& segment = segments_[address - place.offset];
    segment.bytes = std::max(segment.bytes, place.offset + bytes);
    segment.mapped += bytes;
    return place;
  }
  // Of a mapped range; when nothing is mapped any more, the next one is new.
  Place unmap(std::uint64_t address, std::uint64_t bytes) {
    const Place place = find(address).value();
    const std::uint64_t base = address - place.offset;
    segments_[base].mapped -= bytes;
    if (segments_[base].mapped == 0) remove(base);
    return place;
  }

 private:
  struct Segment {
    std::uint64_t number;
    std::uint64_t bytes;   ///< from its address to the end of what was ever mapped
    std::uint64_t mapped;  ///< of expandable ones; 0: it is none
  };

  Place place_of_range(std::uint64_t address, std::uint64_t bytes) {
    if (const std::optional<Place> known = find(address)) return *known;
    for (auto& [base, segment] : segments_) {
      if (segment.mapped == 0 || base + segment.bytes != address) continue;
      segment.bytes += bytes;
      return {segment.number, address - base};
    }
    return {add(address, bytes), 0};
  }

  std::map<std::uint64_t, Segment> segments_;
  std::uint64_t count_ = 0;
};

// Writes the events and marks of all GPUs as the lines of a recording.
class EventWriter {
 public:
  explicit EventWriter(engine::Machine& machine)
      : machine_(machine),
        lines_(static_cast<std::size_t>(machine.gpu_count())),
        segments_(lines_.size()) {}

  void mark(std::string_view label) {
    write_events();
    for (std::size_t gpu = 0; gpu < lines_.size(); ++gpu) {
      const MemoryStats& stats = machine_.requests(static_cast<int>(gpu)).stats();
      lines_[gpu].push_back(fmt::format(
          "= {} {} {} {} {}", stats.allocated_bytes[0].current, stats.allocated_bytes[0].peak,
          stats.reserved_bytes[0].current, stats.reserved_bytes[0].peak, label));
    }
  }

  // On the tensor's GPU, the first one for a tensor of the host.
  void note_layout(const Tensor& tensor) {
    write_events();
    const Device device = tensor.device();
    lines_[device.is_cuda() ? static_cast<std::size_t>(device.index) : 0].push_back(fmt::format(
        ": {} {} {}", name_of(tensor.dtype()), tensor.shape().str(), tensor.strides().str()));
  }

  std::vector<Lines> finish() {
    write_events();
    return std::move(lines_);
  }

 private:
  void write_events() {
    const EventRecord& events = machine_.events();
    for (; seen_ < events.size(); ++seen_) {
      const MemoryEvent& event = events[seen_];
      if (event.device >= 0) write(event, static_cast<std::size_t>(event.device));
    }
  }

  void write(const MemoryEvent& event, std::size_t gpu) {
    std::string line = text_of(event, segments_[gpu]);
    Lines& lines = lines_[gpu];
    if (line.empty()) return;
    const bool is_of_block = line[0] == '+' || line[0] == 'r' || line[0] == 'c';
    if (event.stream != 0 && is_of_block) line += " ~";
    const bool completes_last = line[0] == 'c' && !lines.empty() && lines.back()[0] == 'r' &&
                                lines.back().substr(1) == line.substr(1);
    if (completes_last) {
      lines.back() = line.substr(0, line.find(" ~"));
      lines.back()[0] = '-';
    } else {
      lines.push_back(std::move(line));
    }
  }

  static std::string text_of(const MemoryEvent& event, SegmentNames& segments) {
    const auto block = [&](char code) {
      const SegmentNames::Place place = segments.find(event.address).value();
      return fmt::format("{} {} {}", code, place.segment, place.offset);
    };
    switch (event.action) {
      case EventAction::alloc: {
        const SegmentNames::Place place = segments.find(event.address).value();
        return fmt::format("+ {} {} {}", event.bytes, place.segment, place.offset);
      }
      case EventAction::free_requested:
        return block('r');
      case EventAction::free_completed:
        return block('c');
      case EventAction::segment_alloc:
        return fmt::format("S {} {}", event.bytes, segments.add(event.address, event.bytes));
      case EventAction::segment_free: {
        const std::uint64_t number = segments.find(event.address).value().segment;
        segments.remove(event.address);
        return fmt::format("s {} {}", event.bytes, number);
      }
      case EventAction::segment_map: {
        const SegmentNames::Place place = segments.map(event.address, event.bytes);
        return fmt::format("M {} {} {}", event.bytes, place.segment, place.offset);
      }
      case EventAction::segment_unmap: {
        const SegmentNames::Place place = segments.unmap(event.address, event.bytes);
        return fmt::format("m {} {} {}", event.bytes, place.segment, place.offset);
      }
      case EventAction::oom:
        return fmt::format("! {} {}", event.bytes, event.address);
      case EventAction::snapshot:
      case EventAction::relabel:
        break;
    }
    return "";
  }

  engine::Machine& machine_;
  std::vector<Lines> lines_;
  std::vector<SegmentNames> segments_;
  std::size_t seen_ = 0;
};

engine::MachineOptions options_for(const TwinProgram& twin, const RecordedVersion& version,
                                   const RecordedGpu& gpu) {
  engine::MachineOptions options;
  options.gpu.rules = version.rules;
  options.gpu.profile = gpu.profile;
  options.gpu.values = false;
  std::istringstream settings(twin.settings);
  for (std::string setting; settings >> setting;) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const std::string value = setting.substr(equals + 1);
    if (name == "profile") options.gpu.profile = value;
    if (name == "gpus") options.gpu.count = std::stoi(value);
    if (name == "capacity_bytes") options.gpu.capacity_bytes = std::stoull(value);
    if (name == "values") options.gpu.values = value == "true";
    if (name == "PYTORCH_CUDA_ALLOC_CONF") options.gpu.alloc_conf = value;
  }
  return options;
}

EventWriter* running_writer = nullptr;

int mark(lua_State* L) {
  running_writer->mark(lua::string_argument(L, 1, {"mark", "label"}));
  return 0;
}

int layout(lua_State* L) {
  running_writer->note_layout(lua::tensor_argument(L, 1, {"layout", "tensor"}));
  return 0;
}

int say(lua_State* /*L*/) { return 0; }

// What natives ask of the run: its machine.
class TwinContext final : public engine::RunContext {
 public:
  explicit TwinContext(engine::Machine& machine) : machine_(machine) {}
  void mark_step() override {}
  void dump_snapshot(const std::string& /*path*/) override {
    throw std::invalid_argument("[dump_snapshot] a twin writes no files");
  }
  engine::Machine& machine() override { return machine_; }

 private:
  engine::Machine& machine_;
};

void define(lua_State* L, const char* name, lua_CFunction function) {
  lua_pushglobaltable(L);
  lua_pushstring(L, name);
  lua_pushcfunction(L, function);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

// The message, without the line: lines move.
std::string short_error(const std::string& message) {
  const std::size_t line = message.find("twin.lua:");
  const std::size_t end = line == std::string::npos ? line : message.find(": ", line);
  const std::string text = end == std::string::npos ? message : message.substr(end + 2);
  return "error: " + text.substr(0, text.find('\n'));
}

}  // namespace

TwinRun run_twin(const TwinProgram& twin, const RecordedVersion& version, const RecordedGpu& gpu) {
  static const std::string prelude = read_file(recording_path("pytorch/programs/prelude.lua"));
  engine::Machine machine(options_for(twin, version, gpu));
  machine.add_gpus();
  machine.context().cudnn_enabled = false;
  const ContextGuard context(machine.context());
  EventWriter writer(machine);
  running_writer = &writer;
  TwinRun run;
  TwinContext context_of_run(machine);
  lua::Interpreter interpreter("twin.lua", {}, 0, lua::script_bindings());
  interpreter.run = &context_of_run;
  define(interpreter.state(), "mark", lua::native<mark>);
  define(interpreter.state(), "layout", lua::native<layout>);
  define(interpreter.state(), "say", lua::native<say>);
  try {
    interpreter.load(prelude + twin.source, "twin.lua");
    interpreter.call(0, 0);
  } catch (const engine::ScriptError& error) {
    run.error = short_error(error.what());
  } catch (const OutOfMemory& error) {
    run.error = short_error(error.what());
  }
  run.gpus = writer.finish();
  for (int gpu = 0; gpu < machine.gpu_count(); ++gpu) {
    run.peaks.push_back(machine.requests(gpu).peak_bytes_by_category());
  }
  return run;
}

}  // namespace ohm::test
