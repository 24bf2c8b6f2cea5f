// Notes of who asked for each block of a machine: the program's stack, and the module that was
// running. Kept for histories alone; events have no room for it.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "allocator_shim/observe/stack_table.h"
#include "harness/machine/machine.h"
#include "reports/model/memory_history.h"

namespace ohm::engine {

class CallNotes {
 public:
  /// Right after an allocation, whose event is the newest one; `module` is the path of the module
  /// that asked for it, or empty.
  void note(const Machine& machine, std::string_view module);

  /// The sites of the blocks become those of one stack and module each. To a history that nothing
  /// was left out of.
  void add_to(MemoryHistory& history) const;

 private:
  struct Place {
    StackId stack = kNoStack;
    TextId module = kNoText;
  };
  struct Note {
    std::uint32_t event;
    std::uint32_t place;  ///< index into places_
  };

  StackTable tables_;
  std::vector<Place> places_ = {{}};  ///< the first one is of what was not noted
  std::unordered_map<std::uint64_t, std::uint32_t> place_ids_;
  std::vector<Note> notes_;  ///< by event
};

}  // namespace ohm::engine
