// WatchedStacks: what lies on the stacks of a script's coroutines, and what came and went since it
// was looked at last.
#pragma once

#include <lua.hpp>

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <vector>

#include "harness/lua/vm/raw_values.h"
#include "harness/lua/vm/reference_counts.h"

namespace ohm::lua {

/// Note [Stacks of coroutines]
/// What lies on the stack of a coroutine that runs, or that waits for one it has resumed, is alive;
/// what lies on that of a suspended one lives as long as something refers to the coroutine. A stack
/// changes only while its coroutine runs, which the hook tells, or when a native or a function of
/// another coroutine writes to it, who tell themselves. So only those are compared, however many
/// are suspended.
///
/// A variable that closures share is open while it lies on a stack: what it holds is counted there,
/// and counted as the variable's own when the function that declared it has ended.
class WatchedStacks {
 public:
  using Node = ReferenceCounts::Node;
  /// The node of a value that may be new.
  using NodeOf = std::function<Node&(RawValue)>;

  explicit WatchedStacks(ReferenceCounts& counts) : counts_(counts) {}

  void begin(lua_State* main) { main_ = main; }
  void clear();
  /// What keeps nothing alive, though it lies on a stack.
  void leave_out(const void* content) { left_out_ = content; }

  /// A coroutine that was not known; its values are counted with the first comparison of it.
  void add(lua_State* coroutine, Node& node);
  /// A coroutine runs, or something writes to its stack.
  void note_change(lua_State* coroutine) {
    if (changed_.empty() || changed_.back() != coroutine) add_changed(coroutine);
  }
  /// Whether there is one that was never compared.
  bool has_uncompared() const { return has_uncompared_; }
  /// Those that are known.
  std::vector<lua_State*> coroutines() const;

  /// Compares the stacks that have changed, that of the running coroutine among them. False where a
  /// variable lies on the stack of a coroutine that is gone.
  bool compare(lua_State* running, const NodeOf& node_of);

  /// A variable that has been found on a stack.
  void add_variable(Node& variable);
  /// Before a function, of whichever coroutine, writes to a variable. False: it is on no stack.
  bool note_write(Node& variable);

  // For what died: drops what it had.

  void bury_coroutine(Node& node);
  void bury_variable(Node& node);
  /// Whether a variable that is alive lay on the stack of a coroutine that died.
  bool has_lost_variables() const { return !unplaced_.empty(); }

 private:
  struct Stack {
    lua_State* coroutine = nullptr;
    Node* node = nullptr;
    std::vector<const void*> values;  ///< null for what is not counted
    std::vector<Node*> variables;     ///< those that lie on it
    bool is_running = false;          ///< or waits for one that it has resumed
  };

  void add_changed(lua_State* coroutine);
  bool is_running(lua_State* coroutine) const;
  bool is_counted(RawValue value) const {
    return raw::holds_something(value) && value.content != left_out_;
  }
  void compare_changed(lua_State* running, const NodeOf& node_of);
  void compare_stack(Stack& stack, bool is_running, const NodeOf& node_of);
  void enter(const Stack& stack, Node& value);
  void leave(const Stack& stack, bool was_running, const void* content);
  void close_variables(Stack& stack, const NodeOf& node_of);
  void close_variable(Node& variable, const NodeOf& node_of);
  bool place_variables(const NodeOf& node_of);
  Stack* stack_with(const Node& variable);

  ReferenceCounts& counts_;
  lua_State* main_ = nullptr;
  const void* left_out_ = nullptr;
  std::unordered_map<const void*, Stack> stacks_;
  std::vector<lua_State*> changed_;               ///< since they were compared; some more than once
  std::vector<lua_State*> compared_;              ///< by the comparison that is going on
  std::vector<lua_State*> running_;               ///< of those
  std::unordered_map<const Node*, Stack*> open_;  ///< null: not yet looked up where it lies
  std::vector<Node*> unplaced_;
  std::size_t most_changed_ = 0;  ///< before those that are there more than once go
  bool has_uncompared_ = false;
};

}  // namespace ohm::lua
