#include "harness/lua/libraries/object_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/libraries/reference_graph.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {

/// Its attributes are a table, the handle's user value.
struct Object {
  lua_Integer number;  ///< in the order of making: what weak references know it by
};

template <>
struct HandleOf<Object> {
  static const HandleClass kClass;
};

namespace {

// Tables in the registry of the state, under the addresses of these.
char dying_key = 0;      // found by the collection that just ended: a list
char garbage_key = 0;    // in cycles, or referred to by one: a set
char by_number_key = 0;  // number -> object, without keeping it
// What ohm.gc.collect() found goes whatever it refers to.
thread_local bool is_collecting = false;

void push_registry_table(lua_State* L, const void* key, const char* mode = nullptr) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  if (mode != nullptr) {
    lua_createtable(L, 0, 1);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    Interpreter::of(L).lifetimes().leave_out(L);
  }
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

const Object* test_script_object(lua_State* L, int index) { return test_handle<Object>(L, index); }

void push_attributes(lua_State* L, int object) { lua_getiuservalue(L, object, 1); }

// ---- dying --------------------------------------------------------------------------------------

// The object can still be used; settle_dying_objects() decides.
void note_dying(lua_State* L, HandleHead* object, std::uint64_t age) {
  push_registry_table(L, &dying_key);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
  Interpreter::of(L).note_dying_object(object, age);
}

// __gc
int collect_object(lua_State* L) {
  auto* const object = static_cast<HandleHead*>(lua_touserdata(L, 1));
  const std::uint64_t age = std::exchange(object->age, HandleHead::kEnded);
  if (age == HandleHead::kEnded) {
    Interpreter::of(L).note_found_ended();
  } else if (!is_collecting) {
    note_dying(L, object, age);
  }
  return 0;
}

// Before Lua has found it: nothing refers to it, so that it is in no cycle.
void end_object(Interpreter& interpreter, HandleHead* head, std::uint64_t /*age*/) {
  lua_State* L = interpreter.state();
  push_registry_table(L, &by_number_key, "v");
  lua_pushnil(L);
  lua_rawseti(L, -2, static_cast<Handle<Object>*>(head)->value.number);
  lua_pop(L, 1);
}

// __close
int close_object(lua_State* L) {
  auto* const object = static_cast<HandleHead*>(lua_touserdata(L, 1));
  Interpreter::of(L).lifetimes().note_unknown_write();
  if (!is_collecting) note_dying(L, object, HandleHead::kYoungest);
  return 0;
}

// The object at `index` is again like one that was never found.
void revive(lua_State* L, int index) {
  const int object = lua_absindex(L, index);
  push_registry_table(L, &by_number_key, "v");
  lua_pushvalue(L, object);
  lua_rawseti(L, -2, test_script_object(L, object)->number);
  lua_pop(L, 1);
}

// Lua calls the finalizer of a handle once for each time that it gets its metatable.
void arm_finalizer(lua_State* L, int index) {
  const int handle = lua_absindex(L, index);
  if (lua_getmetatable(L, handle) == 0) return;
  lua_setmetatable(L, handle);
  Interpreter::of(L).note_armed_again(static_cast<HandleHead*>(lua_touserdata(L, handle)));
}

// The object at `index` stays, in the set at `garbage`, until ohm.gc.collect().
void keep_object(lua_State* L, int index, int garbage) {
  const int object = lua_absindex(L, index);
  revive(L, object);
  lua_pushvalue(L, object);
  lua_pushboolean(L, 1);
  lua_rawset(L, garbage);
}

// ---- objects ------------------------------------------------------------------------------------

[[noreturn]] void refuse_attribute(lua_State* L, std::string_view name) {
  std::vector<std::string> known;
  push_attributes(L, 1);
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING) known.emplace_back(lua_tostring(L, -2));
  }
  std::sort(known.begin(), known.end());  // the first of equally near names is told
  throw std::invalid_argument(
      fmt::format("[object] has no attribute '{}'{}", name, did_you_mean(name, known)));
}

int index_object(lua_State* L) {
  push_attributes(L, 1);
  lua_pushvalue(L, 2);
  if (lua_gettable(L, -2) == LUA_TNIL && lua_type(L, 2) == LUA_TSTRING) {
    refuse_attribute(L, lua_tostring(L, 2));
  }
  return 1;
}

int set_attribute(lua_State* L) {
  push_attributes(L, 1);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  Interpreter& interpreter = Interpreter::of(L);
  lua_pushvalue(L, 2);
  lua_rawget(L, -4);
  interpreter.note_overwritten(L, -1);
  lua_pop(L, 1);
  Lifetimes& lifetimes = interpreter.lifetimes();
  lifetimes.before_write(L, -3, -2);
  lua_rawset(L, -3);
  lifetimes.note_written(L);
  return 0;
}

int object_text(lua_State* L) {
  lua_pushfstring(L, "object %d", static_cast<int>(test_script_object(L, 1)->number));
  return 1;
}

constexpr luaL_Reg kObjectMetamethods[] = {
    {"__index", native<index_object, Entry::access>},
    {"__newindex", native<set_attribute, Entry::assignment>},
    {"__tostring", native<object_text, Entry::access>},
};

lua_Integer next_number(lua_State* L) {
  push_registry_table(L, &by_number_key, "v");
  lua_getfield(L, -1, "made");
  const lua_Integer number = lua_tointeger(L, -1) + 1;
  lua_pop(L, 1);
  lua_pushinteger(L, number);
  lua_setfield(L, -2, "made");
  lua_pop(L, 1);
  return number;
}

// object([attributes]): a table with names becomes the first attributes.
int make_object(lua_State* L) {
  if (!lua_isnoneornil(L, 1) && lua_type(L, 1) != LUA_TTABLE) {
    refuse_argument(L, 1, {"object", "attributes"}, "a table");
  }
  lua_settop(L, 1);
  const lua_Integer number = next_number(L);
  void* memory = lua_newuserdatauv(L, sizeof(Handle<Object>), 1);
  new (memory)
      Handle<Object>{{&HandleOf<Object>::kClass, Interpreter::of(L).note_new_handle(L)}, {number}};
  lua_newtable(L);
  if (lua_type(L, 1) == LUA_TTABLE) {
    for (lua_pushnil(L); lua_next(L, 1) != 0;) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, -4);
    }
  }
  lua_setiuservalue(L, -2, 1);
  push_metatable(L, HandleOf<Object>::kClass, {&collect_object, &close_object, &end_object});
  lua_setmetatable(L, -2);
  Interpreter::of(L).lifetimes().note_kept_in_cycles(HandleOf<Object>::kClass);
  revive(L, -1);
  return 1;
}

// ---- weak references ----------------------------------------------------------------------------

// Upvalue: the object's number.
int dereference(lua_State* L) {
  push_registry_table(L, &by_number_key, "v");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_rawget(L, -2);
  return 1;
}

// weakref(object): a function that returns the object while it lives, and nil afterwards.
int weakref(lua_State* L) {
  const Object* object = test_script_object(L, 1);
  if (object == nullptr) refuse_argument(L, 1, {"weakref", "object"}, "an object of ohm.object()");
  lua_pushinteger(L, object->number);
  lua_pushcclosure(L, native<dereference>, 1);
  return 1;
}

// ---- the collector ------------------------------------------------------------------------------

lua_Integer count_entries(lua_State* L, int table) {
  lua_Integer count = 0;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) ++count;
  return count;
}

// Lets go what nothing else refers to; returns how many these were.
lua_Integer collect_what_is_in_cycles(lua_State* L) {
  std::vector<std::shared_ptr<void>>& all = Interpreter::of(L).in_cycles;
  const auto unused = std::stable_partition(
      all.begin(), all.end(), [](const std::shared_ptr<void>& one) { return one.use_count() > 1; });
  std::vector<std::shared_ptr<void>> found(std::make_move_iterator(unused),
                                           std::make_move_iterator(all.end()));
  all.erase(unused, all.end());
  for (std::shared_ptr<void>& one : found) one.reset();
  return static_cast<lua_Integer>(found.size());
}

int collect(lua_State* L) {
  lua_pushinteger(L, collect_cycles(L));
  return 1;
}

constexpr luaL_Reg kObjectFunctions[] = {
    {"object", native<make_object, Entry::access>},
    {"weakref", native<weakref, Entry::access>},
};

constexpr luaL_Reg kGcFunctions[] = {{"collect", native<collect>}};

}  // namespace

const HandleClass HandleOf<Object>::kClass = {"object", kObjectMetamethods};

std::set<const void*> settle_dying_objects(lua_State* L, std::span<const void* const> found) {
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  const int top = lua_gettop(L);
  push_registry_table(L, &dying_key);
  push_registry_table(L, &garbage_key);
  const int dying = top + 1;
  const int garbage = top + 2;
  const ReferenceGraph graph(L, dying);
  const std::vector<bool> in_cycles = graph.in_cycles();
  std::vector<ReferenceGraph::Index> cyclic;
  const auto count = static_cast<std::size_t>(lua_rawlen(L, dying));
  for (ReferenceGraph::Index object = 0; object < count; ++object) {
    if (in_cycles[object]) cyclic.push_back(object);
  }
  std::set<const void*> kept;
  for (const ReferenceGraph::Index value : graph.reached_from(cyclic)) {
    kept.insert(graph.address(value));
  }
  // Lua looks for what gets a finalizer from the youngest value on, and what it found last is the
  // youngest: in this order each is there at once, and the order of finalizers stays.
  for (std::size_t i = found.size(); i-- > 0;) {
    if (!kept.contains(found[i])) continue;
    const ReferenceGraph::Index value = graph.index_of(found[i]);
    graph.push(value);
    arm_finalizer(L, -1);
    if (value < count) keep_object(L, -1, garbage);
    lua_pop(L, 1);
  }
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &dying_key);
  lua_settop(L, top);
  return kept;
}

lua_Integer collect_cycles(lua_State* L) {
  Interpreter::of(L).collect_fully(L);
  push_registry_table(L, &garbage_key);
  const lua_Integer found = count_entries(L, lua_gettop(L));
  lua_pop(L, 1);
  if (found > 0) {
    Interpreter::of(L).lifetimes().note_unknown_write();
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &garbage_key);
    is_collecting = true;
    lua_gc(L, LUA_GCCOLLECT);
    is_collecting = false;
    Interpreter::of(L).collect(L);
  }
  return found + collect_what_is_in_cycles(L);
}

std::span<const luaL_Reg> object_functions() { return kObjectFunctions; }
std::span<const luaL_Reg> gc_functions() { return kGcFunctions; }

}  // namespace ohm::lua
