#include "harness/lua/vm/watched_stacks.h"

#include <algorithm>
#include <utility>

#include "allocator_shim/base/assert.h"

namespace ohm::lua {
namespace {

void keep_each_once(std::vector<lua_State*>& coroutines) {
  if (coroutines.size() < 2) return;
  std::sort(coroutines.begin(), coroutines.end());
  coroutines.erase(std::unique(coroutines.begin(), coroutines.end()), coroutines.end());
}

}  // namespace
void WatchedStacks::clear() {
  has_uncompared_ = false;
  stacks_.clear();
  changed_.clear();
  compared_.clear();
  open_.clear();
  unplaced_.clear();
}

void WatchedStacks::add(lua_State* coroutine, Node& node) {
  Stack& stack = stacks_[coroutine];
  stack.coroutine = coroutine;
  stack.node = &node;
  has_uncompared_ = true;
  changed_.push_back(coroutine);
}

// A few that take turns do not make the list long.
void WatchedStacks::add_changed(lua_State* coroutine) {
  constexpr std::size_t kFew = 64;
  if (changed_.size() >= std::max(kFew, most_changed_)) {
    keep_each_once(changed_);
    most_changed_ = 2 * changed_.size();
  }
  changed_.push_back(coroutine);
}

std::vector<lua_State*> WatchedStacks::coroutines() const {
  std::vector<lua_State*> known;
  for (const auto& [content, stack] : stacks_) known.push_back(stack.coroutine);
  return known;
}

// ---- comparing ----------------------------------------------------------------------------------

bool WatchedStacks::is_running(lua_State* coroutine) const {
  lua_Debug frame;
  return coroutine == main_ ||
         (lua_status(coroutine) == LUA_OK && lua_getstack(coroutine, 0, &frame) != 0);
}

bool WatchedStacks::compare(lua_State* running, const NodeOf& node_of) {
  note_change(running);
  running_.clear();
  bool has_found_all = true;
  // Comparing finds coroutines that were not known.
  while (!changed_.empty()) {
    compared_.clear();
    compared_.swap(changed_);
    keep_each_once(compared_);
    has_uncompared_ = false;
    compare_changed(running, node_of);
    has_found_all = place_variables(node_of) && has_found_all;
  }
  // What they return may come without an instruction of theirs.
  changed_.swap(running_);
  return has_found_all;
}

void WatchedStacks::compare_changed(lua_State* running, const NodeOf& node_of) {
  for (lua_State* coroutine : compared_) {
    const bool runs = is_running(coroutine);
    if (runs) running_.push_back(coroutine);
    auto known = stacks_.find(coroutine);
    if (known == stacks_.end()) {
      if (!runs) continue;
      // It is alive, whatever refers to it.
      node_of(RawValue{coroutine, raw::kThread});
      known = stacks_.find(coroutine);
    }
    compare_stack(known->second, runs, node_of);
    if (coroutine != running) raw::clear_above_stack(coroutine);
  }
}

void WatchedStacks::compare_stack(Stack& stack, bool is_running, const NodeOf& node_of) {
  close_variables(stack, node_of);
  const bool was_running = std::exchange(stack.is_running, is_running);
  const bool is_all_new = was_running != is_running;
  if (is_running && !was_running) counts_.enter_stack(*stack.node);
  const std::size_t count = raw::stack_of(stack.coroutine).size();
  std::vector<const void*> gone;
  for (std::size_t i = 0; i < count; ++i) {
    // Counting may move the stack.
    const RawValue& slot = raw::stack_of(stack.coroutine)[i];
    const RawValue value{slot.content, slot.tag};
    const void* const now = is_counted(value) ? value.content : nullptr;
    if (i == stack.values.size()) stack.values.push_back(nullptr);
    const void* const before = std::exchange(stack.values[i], now);
    if (now == before && !is_all_new) continue;
    if (now != nullptr) enter(stack, node_of(value));
    if (before != nullptr) gone.push_back(before);
  }
  for (std::size_t i = count; i < stack.values.size(); ++i) {
    if (stack.values[i] != nullptr) gone.push_back(stack.values[i]);
  }
  stack.values.resize(count);
  for (const void* content : gone) leave(stack, was_running, content);
  // Only now: what it had is handed over.
  if (was_running && !is_running) counts_.leave_stack(*stack.node);
}

void WatchedStacks::enter(const Stack& stack, Node& value) {
  if (stack.is_running) {
    counts_.enter_stack(value);
  } else {
    ReferenceCounts::refer({stack.node}, value);
  }
}

void WatchedStacks::leave(const Stack& stack, bool was_running, const void* content) {
  Node* const value = counts_.find(content);
  OHM_ASSERT(value != nullptr, "a value that was on a stack and not counted");
  if (was_running) {
    counts_.leave_stack(*value);
  } else {
    counts_.drop_reference({stack.node}, *value);
  }
}

// ---- variables of closures ----------------------------------------------------------------------

void WatchedStacks::add_variable(Node& variable) {
  open_.emplace(&variable, nullptr);
  unplaced_.push_back(&variable);
}

// A variable that was closed holds what was on the stack.
void WatchedStacks::close_variable(Node& variable, const NodeOf& node_of) {
  open_.erase(&variable);
  const RawValue value = raw::value_of(variable.value);
  if (is_counted(value)) ReferenceCounts::refer({&variable}, node_of(value));
}

void WatchedStacks::close_variables(Stack& stack, const NodeOf& node_of) {
  std::vector<Node*> closed;
  std::erase_if(stack.variables, [&](Node* variable) {
    if (!raw::is_closed(variable->value)) return false;
    closed.push_back(variable);
    return true;
  });
  for (Node* variable : closed) close_variable(*variable, node_of);
}

WatchedStacks::Stack* WatchedStacks::stack_with(const Node& variable) {
  const RawValue* const place = raw::place_of(variable.value);
  const auto lies_on = [place](const Stack& stack) {
    const auto above = raw::above_stack_of(stack.coroutine);
    return place >= raw::stack_of(stack.coroutine).data() && place < above.data() + above.size();
  };
  // Nearly always that of a coroutine that has run.
  for (lua_State* coroutine : compared_) {
    const auto known = stacks_.find(coroutine);
    if (known != stacks_.end() && lies_on(known->second)) return &known->second;
  }
  for (auto& [content, stack] : stacks_) {
    if (lies_on(stack)) return &stack;
  }
  return nullptr;
}

bool WatchedStacks::place_variables(const NodeOf& node_of) {
  bool has_found_all = true;
  while (!unplaced_.empty()) {
    Node* const variable = unplaced_.back();
    unplaced_.pop_back();
    if (raw::is_closed(variable->value)) {
      close_variable(*variable, node_of);
      continue;
    }
    Stack* const stack = stack_with(*variable);
    if (stack != nullptr) stack->variables.push_back(variable);
    open_[variable] = stack;
    has_found_all = has_found_all && stack != nullptr;
  }
  return has_found_all;
}

bool WatchedStacks::note_write(Node& variable) {
  const auto known = open_.find(&variable);
  if (known == open_.end()) return false;
  Stack* const stack = known->second != nullptr ? known->second : stack_with(variable);
  if (stack != nullptr) note_change(stack->coroutine);
  return true;
}

// ---- what died ----------------------------------------------------------------------------------

// Should closures have outlived it, its variables lie on a stack that is not looked at any more.
void WatchedStacks::bury_coroutine(Node& node) {
  const auto known = stacks_.find(node.value.content);
  Stack stack = std::move(known->second);
  stacks_.erase(known);
  for (Node* variable : stack.variables) {
    open_[variable] = nullptr;
    unplaced_.push_back(variable);
  }
  for (const void* content : stack.values) {
    if (content != nullptr) leave(stack, stack.is_running, content);
  }
}

void WatchedStacks::bury_variable(Node& node) {
  const auto known = open_.find(&node);
  if (known == open_.end()) return;
  std::erase(known->second == nullptr ? unplaced_ : known->second->variables, &node);
  open_.erase(known);
}

}  // namespace ohm::lua
