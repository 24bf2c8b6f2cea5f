#include "harness/machine/call_notes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "harness/machine/memory_recording.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {
namespace {

void allocate_on(Machine& machine, std::size_t bytes) {
  AllocationRequest request;
  request.bytes = bytes;
  machine.requests(0).allocate(request);
}

/// "file:line function" of each call, the innermost first.
std::vector<std::string> stack_of(const MemoryHistory& history, const HistoryBlock& block) {
  std::vector<std::string> lines;
  for (std::uint32_t at = history.sites.at(block.site).call; at != 0;) {
    const HistoryCall& call = history.calls.at(at - 1);
    const HistoryLine& line = history.lines.at(call.line);
    lines.push_back(line.file + ":" + std::to_string(line.line) + " " + line.function);
    at = call.caller;
  }
  return lines;
}

TEST(CallNotes, ABlockHasTheStackAndTheModuleOfItsRequest) {
  Machine machine({});
  const ContextGuard guard(machine.context());
  machine.add_gpus();
  int line = 7;
  std::string module = "Net.0";
  machine.on_program_stack([&line] {
    return std::vector<Machine::ProgramFrame>{{"a.lua", 1, ""}, {"a.lua", line, "step"}};
  });
  CallNotes notes;
  machine.on_allocation([&](int /*gpu*/) { notes.note(machine, module); });
  allocate_on(machine, 20_MiB);
  line = 8;
  module.clear();
  allocate_on(machine, 2_MiB);
  machine.on_allocation([](int /*gpu*/) {});
  allocate_on(machine, 1_MiB);

  const MemoryHistory history = memory_history(machine, {}, notes);
  const std::vector<HistoryBlock>& blocks = history.devices.at(0).blocks;
  ASSERT_EQ(3U, blocks.size());
  EXPECT_EQ("Net.0", history.sites.at(blocks[0].site).module);
  EXPECT_EQ((std::vector<std::string>{"a.lua:7 step", "a.lua:1 "}), stack_of(history, blocks[0]));
  EXPECT_EQ("", history.sites.at(blocks[1].site).module);
  EXPECT_EQ((std::vector<std::string>{"a.lua:8 step", "a.lua:1 "}), stack_of(history, blocks[1]));
  EXPECT_TRUE(stack_of(history, blocks[2]).empty()) << "nobody noted it";
}

}  // namespace
}  // namespace ohm::engine
