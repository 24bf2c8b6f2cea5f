#include "harness/lua/vm/lifetimes.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "harness/lua/vm/bindings.h"
#include "harness/lua/vm/instruction.h"

namespace ohm::lua {
namespace {

constexpr std::int64_t kLookAtHeap = 256;  // instructions
// A collection looks at so many bytes in the time that the hook takes for an instruction.
constexpr std::size_t kBytesPerInstruction = 256;
// What is counted anew costs as much as so many collections.
constexpr std::size_t kWorthwhile = 16;
// So many events' worth of instructions may come between two.
constexpr std::int64_t kMostAhead = 64;
constexpr std::size_t kLongestWait = 1024;

std::size_t heap_bytes(lua_State* L) {
  return (static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNT)) << 10U) +
         static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNTB));
}

/// Calls visit(number, value) for the elements of a list with higher numbers than `first`.
template <class F>
void for_each_element_behind(lua_State* L, RawValue table, lua_Integer first, F&& visit) {
  raw::push(L, table);
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    if (lua_isinteger(L, -2) == 0 || lua_tointeger(L, -2) <= first) continue;
    visit(lua_tointeger(L, -2), raw::value_at(L, -1));
  }
  lua_pop(L, 1);
}

// As if the collector had not stood still since a collection that left half of `most_bytes`: it
// would begin at once, and empty weak tables before anything else has.
void restart_collector(lua_State* L, std::size_t most_bytes) {
  lua_gc(L, LUA_GCRESTART);
  const std::size_t bytes = heap_bytes(L);
  if (bytes >= most_bytes) return;
  lua_gc(L, LUA_GCSTEP,
         -static_cast<int>(std::min<std::size_t>((most_bytes - bytes) >> 10U, INT_MAX)));
}

}  // namespace

LifetimeSettings& lifetime_settings() {
  static LifetimeSettings settings;
  return settings;
}

// ---- beginning and ending -----------------------------------------------------------------------

bool Lifetimes::begin(lua_State* L) {
  if (has_given_up_ || pauses_ > 0 || !permutations_.empty() ||
      heap_bytes(L) < lifetime_settings().least_heap_bytes)
    return false;
  if (wait_ > 0) return --wait_, false;
  is_watching_ = true;
  is_unsure_ = is_broken_ = false;
  settled_ = 0;
  lua_gc(L, LUA_GCSTOP);
  most_bytes_ = 2 * heap_bytes(L);
  luaL_checkstack(L, 2 * LUA_MINSTACK, nullptr);
  if (!count_what_is_there(L)) return end(L), false;
  raw::clear_above_stack(L);
  const std::size_t bytes = most_bytes_ / 2;
  allowance_per_event_ = static_cast<std::int64_t>(
      std::max(bytes, lifetime_settings().least_allowance_bytes) / kBytesPerInstruction);
  allowance_ = kMostAhead * allowance_per_event_;
  return true;
}

// False where that is not known for sure.
bool Lifetimes::count_what_is_there(lua_State* L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  stacks_.begin(lua_tothread(L, -1));
  lua_pop(L, 1);
  lua_pushliteral(L, "__mode");
  mode_name_ = raw::value_at(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, this);
  lua_pushvalue(L, LUA_REGISTRYINDEX);
  const RawValue registry = raw::value_at(L, -1);
  lua_pop(L, 1);
  registry_ = &node_of(L, registry);
  registry_->is_root = true;
  // The metatable of strings is Lua's own.
  lua_pushliteral(L, "");
  if (lua_getmetatable(L, -1) != 0) {
    refer(L, *registry_, raw::value_at(L, -1));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return compare_stacks(L) && !has_given_up_;
}

void Lifetimes::end(lua_State* L) {
  is_watching_ = false;
  const bool was_worthwhile = settled_ >= kWorthwhile && allowance_ >= 0;
  if (!was_worthwhile && lifetime_settings().waits_after_failure) {
    next_wait_ = std::min(kLongestWait, std::max<std::size_t>(kWorthwhile, 2 * next_wait_));
    wait_ = next_wait_;
  } else {
    next_wait_ = 0;
  }
  counts_.clear();
  unexpanded_.clear();
  stacks_.clear();
  new_userdata_.clear();
  dead_.clear();
  weak_entries_.clear();
  newly_held_.clear();
  pending_ = {};
  registry_ = nullptr;
  is_expanding_ = false;
  restart_collector(L, most_bytes_);
}

// ---- what refers to what ------------------------------------------------------------------------

// Visits keys with their values, and the metatable, of the table on top of the stack.
template <class E, class F>
void Lifetimes::for_each_in_table(lua_State* L, E&& visit_entry, F&& visit) {
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    visit_entry(raw::value_at(L, -2), raw::value_at(L, -1));
  }
  if (lua_getmetatable(L, -1) == 0) return;
  visit(raw::value_at(L, -1));
  lua_pop(L, 1);
}

template <class E, class F>
void Lifetimes::for_each_reference(lua_State* L, RawValue from, E&& visit_entry, F&& visit) {
  if (from.tag == raw::kVariable) {
    if (raw::is_closed(from)) visit(raw::value_of(from));
    return;
  }
  raw::push(L, from);
  switch (from.tag) {
    case raw::kTable:
      for_each_in_table(L, visit_entry, visit);
      break;
    case raw::kLuaFunction:
      for (int i = 1; const void* shared = lua_upvalueid(L, -1, i); ++i) {
        visit(RawValue{shared, raw::kVariable});
      }
      break;
    case raw::kNativeFunction:
      for (int i = 1; lua_getupvalue(L, -1, i) != nullptr; ++i) {
        const RawValue value = raw::value_at(L, -1);
        lua_pop(L, 1);
        visit(value);
      }
      break;
    case raw::kUserdata:
      for (int i = 1; lua_getiuservalue(L, -1, i) != LUA_TNONE; ++i) {
        const RawValue value = raw::value_at(L, -1);
        lua_pop(L, 1);
        visit(value);
      }
      lua_pop(L, 1);  // of the missing one
      break;
    default:
      break;
  }
  lua_pop(L, 1);
}

// Its references are counted when it is new, and those of what they lead to.
Lifetimes::Node& Lifetimes::node_of(lua_State* L, RawValue value) {
  if (Node* known = counts_.find(value.content)) return *known;
  Node& node = counts_.add(value);
  // Until it is found to refer to something, be it to the value under a weak key.
  node.is_leaf = value.tag == raw::kUserdata;
  unexpanded_.push_back(&node);
  if (is_expanding_) return node;
  is_expanding_ = true;
  while (!unexpanded_.empty()) {
    Node* const next = unexpanded_.back();
    unexpanded_.pop_back();
    expand(L, *next);
  }
  is_expanding_ = false;
  return node;
}

bool Lifetimes::is_kept_in_cycles(lua_State* L, RawValue value) const {
  if (kept_in_cycles_ == nullptr || value.tag != raw::kUserdata) return false;
  raw::push(L, value);
  const auto* const handle = static_cast<const HandleHead*>(lua_touserdata(L, -1));
  const bool has_room = lua_rawlen(L, -1) >= sizeof(HandleHead);
  lua_pop(L, 1);
  return has_room && handle->kind == kept_in_cycles_;
}

void Lifetimes::expand(lua_State* L, Node& node) {
  if (node.value.tag == raw::kThread) {
    raw::push(L, node.value);
    stacks_.add(lua_tothread(L, -1), node);
    lua_pop(L, 1);
    return;
  }
  if (node.value.tag == raw::kVariable && !raw::is_closed(node.value)) {
    return stacks_.add_variable(node);
  }
  node.stays_in_cycles = is_kept_in_cycles(L, node.value);
  if (node.value.tag == raw::kTable) note_weakness(L, node);
  for_each_reference(
      L, node.value, [&](RawValue key, RawValue value) { add_entry(L, node, key, value); },
      [&](RawValue value) { refer(L, node, value); });
}

void Lifetimes::refer(lua_State* L, Node& from, RawValue to, Node* table) {
  if (!is_counted(to)) return;
  from.is_leaf = false;
  ReferenceCounts::refer({&from, table}, node_of(L, to));
}

void Lifetimes::drop(Node& from, RawValue to, Node* table) {
  if (!is_counted(to)) return;
  Node* const node = counts_.find(to.content);
  OHM_ASSERT(node != nullptr, "a value that was written and not counted");
  counts_.drop_reference({&from, table}, *node);
}

// ---- writes -------------------------------------------------------------------------------------

bool Lifetimes::on_instruction(lua_State* L, const lua_Debug& frame) {
  if (!may_go_on(L)) return end(L), false;
  stacks_.note_change(L);
  if (pending_.node != nullptr) finish_write(L);
  const Instruction next{raw::next_instruction_of(frame)[-1]};
  switch (next.opcode()) {
    case kSetUpvalue:
      watch_variable(raw::variable_of(raw::function_of(frame), next.b()));
      break;
    case kSetGlobal: {
      const RawValue function = raw::function_of(frame);
      watch_write(L, raw::value_of(raw::variable_of(function, next.a())),
                  raw::constant_of(function, next.b()));
      break;
    }
    case kSetTable:
      watch_write(L, raw::register_of(frame, next.a()), raw::register_of(frame, next.b()));
      break;
    case kSetInteger:
      watch_write(L, raw::register_of(frame, next.a()), raw::integer_value(next.b()));
      break;
    case kSetField:
      watch_write(L, raw::register_of(frame, next.a()),
                  raw::constant_of(raw::function_of(frame), next.b()));
      break;
    case kSetList:
      // A longer list says so in another instruction: all its elements may be new then.
      watch_list(L, raw::register_of(frame, next.a()), next.k() ? -1 : next.c());
      break;
    default:
      break;
  }
  return true;
}

bool Lifetimes::may_go_on(lua_State* L) {
  if (is_broken_ || is_unsure_ || has_given_up_) return false;
  if (--allowance_ < 0) return false;
  return allowance_ % kLookAtHeap != 0 || heap_bytes(L) < most_bytes_;
}

void Lifetimes::pause() {
  ++pauses_;
  is_unsure_ = true;
}

// A table that a native permutes meanwhile.
void Lifetimes::note_write_to(RawValue table) {
  for (Permutation* permutation : permutations_) {
    if (!(permutation->table_ == table) || permutation->is_disturbed_) continue;
    permutation->is_disturbed_ = true;
    pause();
  }
}

// The value that is written is looked at afterwards: the write may fail, or a function may be
// called for it.
void Lifetimes::watch_write(lua_State* L, RawValue table, RawValue key) {
  if (table.tag != raw::kTable) return;
  note_write_to(table);
  Node* const node = counts_.find(table.content);
  if (node == nullptr) return;
  // Tables that it is the metatable of may be weak then, or not any more.
  if (key == mode_name_) is_unsure_ = true;
  const raw::Untouched untouched(L);
  raw::push(L, table);
  raw::push(L, key);
  lua_rawget(L, -2);
  pending_ = {node, key, raw::value_at(L, -1), true, 0};
  if (pending_.old.is_nil() && leads_elsewhere(L)) is_unsure_ = true;
}

// Whether what is new in the table below the top goes to another table.
bool Lifetimes::leads_elsewhere(lua_State* L) {
  return luaL_getmetafield(L, -2, "__newindex") == LUA_TTABLE;
}

void Lifetimes::watch_list(lua_State* L, RawValue table, lua_Integer first) {
  Node* const node = counts_.find(table.content);
  if (node == nullptr) return;
  if (first < 0) is_unsure_ = true;
  elements_before_.clear();
  const raw::Untouched untouched(L);
  for_each_element_behind(L, table, first, [&](lua_Integer number, RawValue value) {
    elements_before_.emplace_back(number, value);
  });
  pending_ = {node, {}, {}, false, first};
}

void Lifetimes::watch_variable(RawValue variable) {
  Node* const node = counts_.find(variable.content);
  if (node == nullptr) return;
  if (stacks_.note_write(*node)) return;
  pending_ = {node, {}, raw::value_of(variable), true, 0};
}

void Lifetimes::finish_write(lua_State* L) {
  const PendingWrite write = std::exchange(pending_, {});
  const raw::Untouched untouched(L);
  if (!write.has_key) return finish_list(L, write);
  if (write.node->value.tag == raw::kVariable) {
    refer(L, *write.node, raw::value_of(write.node->value));
    drop(*write.node, write.old);
    return;
  }
  raw::push(L, write.node->value);
  raw::push(L, write.key);
  lua_rawget(L, -2);
  const RawValue value = raw::value_at(L, -1);
  if (is_weak(*write.node)) {
    if (!value.is_nil()) add_entry(L, *write.node, write.key, value);
    if (!write.old.is_nil()) remove_entry(*write.node, write.key, write.old);
    return;
  }
  if (write.old.is_nil() && !value.is_nil()) refer(L, *write.node, write.key);
  refer(L, *write.node, value);
  drop(*write.node, write.old);
  if (!write.old.is_nil() && value.is_nil()) drop(*write.node, write.key);
}

void Lifetimes::finish_list(lua_State* L, const PendingWrite& write) {
  const auto before = std::exchange(elements_before_, {});
  if (is_weak(*write.node)) is_unsure_ = true;
  for_each_element_behind(
      L, write.node->value, write.first, [&](lua_Integer number, RawValue value) {
        const auto is_it = [number](const auto& element) { return element.first == number; };
        const auto known = std::find_if(before.begin(), before.end(), is_it);
        if (known != before.end() && known->second == value) return;
        refer(L, *write.node, value);
        if (known != before.end()) drop(*write.node, known->second);
      });
}

// ---- what natives tell --------------------------------------------------------------------------

void Lifetimes::before_write(lua_State* L, int table, int key) {
  if (!is_watching_ || is_broken_) return;
  if (pending_.node != nullptr) finish_write(L);
  watch_write(L, raw::value_at(L, lua_absindex(L, table)), raw::value_at(L, lua_absindex(L, key)));
}

void Lifetimes::before_append(lua_State* L, int table) {
  if (!is_watching_ || is_broken_) return;
  if (pending_.node != nullptr) finish_write(L);
  watch_write(L, raw::value_at(L, lua_absindex(L, table)),
              raw::integer_value(static_cast<lua_Integer>(lua_rawlen(L, table)) + 1));
}

void Lifetimes::note_written(lua_State* L) {
  if (is_watching_ && !is_broken_ && pending_.node != nullptr) finish_write(L);
}

void Lifetimes::note_inserted(lua_State* L, RawValue table, RawValue value) {
  if (!is_watching_ || is_broken_) return;
  const raw::Untouched untouched(L);
  note_write_to(table);
  Node* const node = counts_.find(table.content);
  if (node == nullptr) return;
  if (is_weak(*node)) is_unsure_ = true;
  refer(L, *node, value);
}

void Lifetimes::note_removed(lua_State* L, RawValue table, RawValue value) {
  if (!is_watching_ || is_broken_) return;
  if (pending_.node != nullptr) finish_write(L);
  note_write_to(table);
  Node* const node = counts_.find(table.content);
  if (node == nullptr) return;
  if (is_weak(*node)) {
    is_unsure_ = true;
  } else {
    drop(*node, value);
  }
}

void Lifetimes::before_metatable(lua_State* L, int table, int metatable) {
  if (!is_watching_ || is_broken_) return;
  if (pending_.node != nullptr) finish_write(L);
  Node* const node = counts_.find(raw::value_at(L, lua_absindex(L, table)).content);
  if (node == nullptr) return;
  const RawValue next = raw::value_at(L, lua_absindex(L, metatable));
  const raw::Untouched untouched(L);
  // What it has is counted in another way from there on.
  if (is_weak(*node) || has_mode(L, next)) is_unsure_ = true;
  refer(L, *node, next);
  if (lua_getmetatable(L, table) != 0) drop(*node, raw::value_at(L, -1));
}

void Lifetimes::note_held(lua_State* L, int index) {
  if (!is_watching_ || is_broken_) return;
  const raw::Untouched untouched(L);
  refer(L, *registry_, raw::value_at(L, lua_absindex(L, index)));
}

void Lifetimes::note_let_go(lua_State* L, int index) {
  if (!is_watching_ || is_broken_) return;
  drop(*registry_, raw::value_at(L, lua_absindex(L, index)));
}

// ---- what died ----------------------------------------------------------------------------------

std::optional<std::vector<RawValue>> Lifetimes::settle(lua_State* L) {
  if (is_sure(L)) {
    luaL_checkstack(L, 2 * LUA_MINSTACK, nullptr);
    if (pending_.node != nullptr) finish_write(L);
    const bool is_counted = compare_stacks(L) && settle_new_userdata(L);
    suspect_what_is_held_weakly();
    const bool is_settled = is_counted && counts_.settle([&](Node& node) { bury(L, node); }) &&
                            !stacks_.has_lost_variables();
    raw::clear_above_stack(L);
    ++settled_;
    allowance_ = std::min(allowance_ + allowance_per_event_, kMostAhead * allowance_per_event_);
    if (is_settled && is_sure(L)) return std::exchange(dead_, {});
  }
  end(L);
  return std::nullopt;
}

// What is on the stack, or was put anywhere, is counted by now. The others are dead, unless they
// lead to themselves: a cycle of objects stays.
bool Lifetimes::settle_new_userdata(lua_State* L) {
  for (const RawValue& made : new_userdata_) {
    if (counts_.find(made.content) != nullptr || !raw::has_user_values(L, made)) continue;
    Node& node = node_of(L, made);
    counts_.enter_stack(node);
    counts_.leave_stack(node);
  }
  if (stacks_.has_uncompared() && !compare_stacks(L)) return false;
  for (const RawValue& made : new_userdata_) {
    if (counts_.find(made.content) == nullptr) dead_.push_back(made);
  }
  new_userdata_.clear();
  return true;
}

bool Lifetimes::is_sure(lua_State* L) const {
  return !is_broken_ && !is_unsure_ && !has_given_up_ && heap_bytes(L) < most_bytes_;
}

bool Lifetimes::compare_stacks(lua_State* L) {
  return stacks_.compare(L, [&](RawValue value) -> Node& { return node_of(L, value); });
}

void Lifetimes::bury(lua_State* L, Node& node) {
  if (node.value.tag == raw::kUserdata) dead_.push_back(node.value);
  if (node.value.tag == raw::kThread) return stacks_.bury_coroutine(node);
  if (node.value.tag == raw::kVariable) stacks_.bury_variable(node);
  if (node.is_held_weakly) clear_weak_entries(L, node);
  for_each_reference(
      L, node.value, [&](RawValue key, RawValue value) { remove_entry(node, key, value); },
      [&](RawValue value) { drop(node, value); });
}

}  // namespace ohm::lua
