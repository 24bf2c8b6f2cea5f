// What a script of the tests of lifetimes does: the events of memory that it makes, and how often
// the collector ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/lua/libraries/script_bindings.h"
#include "harness/lua/vm/interpreter.h"
#include "tests/support/test_machine.h"

namespace ohm::test {

struct ScriptOutcome {
  std::vector<std::string> events;
  std::uint64_t collections = 0;
};

/// Of a script that makes a tensor with T(), and an event beside it with event().
inline ScriptOutcome run_script(const std::string& script) {
  constexpr const char* kPrelude =
      "function T() return ohm.empty(128, {device = 'cuda'}) end\n"
      "function event() ohm.empty(1, {device = 'cuda'}) end\n";
  TestMachine machine({.gpus = 2});
  lua::Interpreter interpreter("test.lua", {}, 7, lua::script_bindings());
  for (const std::string& source : {std::string(kPrelude), script}) {
    interpreter.load(source, "test.lua");
    interpreter.call(0, 0);
  }
  ScriptOutcome outcome{{}, interpreter.collections()};
  const EventRecord& events = machine.events();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const MemoryEvent& event = events[i];
    outcome.events.push_back(std::to_string(static_cast<int>(event.action)) + " " +
                             std::to_string(event.address) + " " + std::to_string(event.bytes));
  }
  return outcome;
}

}  // namespace ohm::test
