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
  }
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

const Object* test_script_object(lua_State* L, int index) { return test_handle<Object>(L, index); }

void push_attributes(lua_State* L, int object) { lua_getiuservalue(L, object, 1); }

// ---- dying --------------------------------------------------------------------------------------

/// Walks what a value refers to, as far as scripts can make references: user values of handles
/// (an object's attributes), tables and the variables of functions.
class References {
 public:
  explicit References(lua_State* L) : state_(L) {}

  /// Adds everything that the value at `index` leads to; the value itself only in a cycle.
  void follow(int index) {
    luaL_checkstack(state_, LUA_MINSTACK, "objects in objects");
    const int value = lua_absindex(state_, index);
    switch (lua_type(state_, value)) {
      case LUA_TUSERDATA:
        for (int i = 1; lua_getiuservalue(state_, value, i) != LUA_TNONE; ++i) add_top();
        lua_pop(state_, 1);
        break;
      case LUA_TTABLE:
        follow_table(value);
        break;
      case LUA_TFUNCTION:
        for (int i = 1; lua_getupvalue(state_, value, i) != nullptr; ++i) add_top();
        break;
      default:
        break;
    }
  }

  const std::set<const void*>& all() const { return seen_; }

 private:
  void follow_table(int table) {
    if (lua_getmetatable(state_, table) != 0) add_top();
    for (lua_pushnil(state_); lua_next(state_, table) != 0;) {
      add_top();
      lua_pushvalue(state_, -1);
      add_top();
    }
  }

  // Pops the value on top.
  void add_top() {
    const void* value = lua_topointer(state_, -1);
    const int type = lua_type(state_, -1);
    const bool refers = type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA;
    if (refers && seen_.insert(value).second) follow(-1);
    lua_pop(state_, 1);
  }

  lua_State* state_;
  std::set<const void*> seen_;
};

// __gc: the object can still be used; settle_dying_objects() decides.
int note_dying(lua_State* L) {
  if (is_collecting) return 0;
  push_registry_table(L, &dying_key);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
  Interpreter::of(L).note_dying_object();
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
  if (lua_getmetatable(L, handle) != 0) lua_setmetatable(L, handle);
}

// What the objects of the list at `dying` refer to that are in cycles, themselves included.
std::set<const void*> reached_from_cycles(lua_State* L, int dying) {
  std::set<const void*> reached;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, dying));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, dying, i);
    References references(L);
    references.follow(-1);
    const std::set<const void*>& all = references.all();
    if (all.contains(lua_topointer(L, -1))) reached.insert(all.begin(), all.end());
    lua_pop(L, 1);
  }
  return reached;
}

// Arms everything that the kept objects refer to, each once.
class Arming {
 public:
  Arming(lua_State* L, std::set<const void*> kept) : state_(L), left_(std::move(kept)) {}

  // The value on top, which stays, and what it refers to.
  void visit() {
    luaL_checkstack(state_, LUA_MINSTACK, "objects in objects");
    if (left_.erase(lua_topointer(state_, -1)) == 0) return;
    const int value = lua_gettop(state_);
    if (lua_type(state_, value) == LUA_TUSERDATA) {
      arm_finalizer(state_, value);
      for (int i = 1; lua_getiuservalue(state_, value, i) != LUA_TNONE; ++i) visit_and_pop();
      lua_pop(state_, 1);
    } else if (lua_type(state_, value) == LUA_TTABLE) {
      for (lua_pushnil(state_); lua_next(state_, value) != 0;) {
        visit_and_pop();
        visit();
      }
    } else if (lua_type(state_, value) == LUA_TFUNCTION) {
      for (int i = 1; lua_getupvalue(state_, value, i) != nullptr; ++i) visit_and_pop();
    }
  }

 private:
  void visit_and_pop() {
    visit();
    lua_pop(state_, 1);
  }

  lua_State* state_;
  std::set<const void*> left_;
};

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
  lua_rawset(L, -3);
  return 0;
}

int object_text(lua_State* L) {
  lua_pushfstring(L, "object %d", static_cast<int>(test_script_object(L, 1)->number));
  return 1;
}

constexpr luaL_Reg kObjectMetamethods[] = {
    {"__gc", &note_dying},
    {"__index", native<index_object, Entry::access>},
    {"__newindex", native<set_attribute, Entry::access>},
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
  new (memory) Handle<Object>{&HandleOf<Object>::kClass, {number}};
  lua_newtable(L);
  if (lua_type(L, 1) == LUA_TTABLE) {
    for (lua_pushnil(L); lua_next(L, 1) != 0;) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, -4);
    }
  }
  lua_setiuservalue(L, -2, 1);
  push_metatable(L, HandleOf<Object>::kClass, &note_dying);
  lua_setmetatable(L, -2);
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

// gc.collect(): lets cycles go; returns how many objects these were.
int collect(lua_State* L) {
  push_registry_table(L, &garbage_key);
  const lua_Integer found = count_entries(L, lua_gettop(L));
  lua_pop(L, 1);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &garbage_key);
  if (found > 0) {
    is_collecting = true;
    lua_gc(L, LUA_GCCOLLECT);
    is_collecting = false;
    Interpreter::of(L).collect(L);
  }
  lua_pushinteger(L, found);
  return 1;
}

constexpr luaL_Reg kObjectFunctions[] = {
    {"object", native<make_object>},
    {"weakref", native<weakref>},
};

constexpr luaL_Reg kGcFunctions[] = {{"collect", native<collect>}};

}  // namespace

const HandleClass HandleOf<Object>::kClass = {"object", kObjectMetamethods};

std::set<const void*> settle_dying_objects(lua_State* L) {
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  const int top = lua_gettop(L);
  push_registry_table(L, &dying_key);
  push_registry_table(L, &garbage_key);
  const int dying = top + 1;
  const int garbage = top + 2;
  std::set<const void*> kept = reached_from_cycles(L, dying);
  Arming arming(L, kept);
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, dying));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, dying, i);
    if (kept.contains(lua_topointer(L, -1))) {
      arming.visit();
      revive(L, -1);
      lua_pushboolean(L, 1);
      lua_rawset(L, garbage);
    }
    lua_settop(L, garbage);
  }
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &dying_key);
  lua_settop(L, top);
  return kept;
}

std::span<const luaL_Reg> object_functions() { return kObjectFunctions; }
std::span<const luaL_Reg> gc_functions() { return kGcFunctions; }

}  // namespace ohm::lua
