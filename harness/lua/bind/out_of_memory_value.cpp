#include "harness/lua/bind/out_of_memory_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/module_metatable.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/op_functions.h"
#include "harness/lua/vm/base_functions.h"
#include "harness/lua/vm/dead_registers.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/lifetimes/call_frames.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {

using ErrorPtr = std::shared_ptr<const OutOfMemory>;

template <>
struct HandleOf<ErrorPtr> {
  static const HandleClass kClass;
};

namespace {

void push_bytes(lua_State* L, std::size_t bytes) {
  lua_pushinteger(L, static_cast<lua_Integer>(bytes));
}

Site site_of(const OutOfMemoryReport& report) {
  const SiteTable* sites = Context::current().sites;
  return sites == nullptr ? Site() : sites->at(report.site);
}

struct Field {
  std::string_view name;
  void (*push)(lua_State* L, const OutOfMemoryReport& report);
};

constexpr std::array<Field, 14> kFields = {{
    {"message", [](lua_State* L, const OutOfMemoryReport& r) { push_text(L, r.message); }},
    {"device",
     [](lua_State* L, const OutOfMemoryReport& r) { push_text(L, Device::cuda(r.device).str()); }},
    {"requested_bytes",
     [](lua_State* L, const OutOfMemoryReport& r) { push_bytes(L, r.requested_bytes); }},
    {"segment_bytes",
     [](lua_State* L, const OutOfMemoryReport& r) { push_bytes(L, r.segment_bytes); }},
    {"capacity_bytes",
     [](lua_State* L, const OutOfMemoryReport& r) { push_bytes(L, r.capacity_bytes); }},
    {"free_bytes", [](lua_State* L, const OutOfMemoryReport& r) { push_bytes(L, r.free_bytes); }},
    {"allocated_bytes",
     [](lua_State* L, const OutOfMemoryReport& r) { push_bytes(L, r.allocated_bytes); }},
    {"reserved_bytes",
     [](lua_State* L, const OutOfMemoryReport& r) { push_bytes(L, r.reserved_bytes); }},
    {"category",
     [](lua_State* L, const OutOfMemoryReport& r) { push_text(L, name_of(r.category)); }},
    {"injected", [](lua_State* L, const OutOfMemoryReport& r) { lua_pushboolean(L, r.injected); }},
    {"policy", [](lua_State* L, const OutOfMemoryReport& r) { push_text(L, r.policy); }},
    {"op", [](lua_State* L, const OutOfMemoryReport& r) { push_text(L, site_of(r).op); }},
    {"file", [](lua_State* L, const OutOfMemoryReport& r) { push_text(L, site_of(r).file); }},
    {"line", [](lua_State* L, const OutOfMemoryReport& r) { lua_pushinteger(L, site_of(r).line); }},
}};

const OutOfMemoryReport& report_at(lua_State* L, int index) {
  const OutOfMemory* error = test_out_of_memory(L, index);
  if (error == nullptr) throw std::invalid_argument("an out-of-memory error that was closed");
  return error->report();
}

int index_error(lua_State* L) {
  const std::string_view name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  const auto* field = std::find_if(kFields.begin(), kFields.end(),
                                   [&](const Field& known) { return known.name == name; });
  if (field == kFields.end()) {
    std::vector<std::string> names;
    names.reserve(kFields.size());
    for (const Field& known : kFields) names.emplace_back(known.name);
    throw std::invalid_argument(
        fmt::format("an out-of-memory error has no field '{}'{}", name, did_you_mean(name, names)));
  }
  field->push(L, report_at(L, 1));
  return 1;
}

int error_text(lua_State* L) {
  push_text(L, report_at(L, 1).message);
  return 1;
}

int concatenate_error(lua_State* L) {
  luaL_tolstring(L, 1, nullptr);
  luaL_tolstring(L, 2, nullptr);
  lua_concat(L, 2);
  return 1;
}

constexpr luaL_Reg kOutOfMemoryValueMetamethods[] = {
    {"__index", native<index_error, Entry::access>},
    {"__tostring", native<error_text, Entry::access>},
    {"__concat", native<concatenate_error, Entry::access>},
};

/// Gathers what frames hold in the table at `held`, the innermost frame first.
class FrameHolder {
 public:
  FrameHolder(lua_State* L, int held) : state_(L), held_(held) {}

  /// The handles among that, and in lists among it, in the order in which they go with the frames:
  /// what several variables hold goes with the last.
  std::vector<const void*> handles_in_order() const {
    std::vector<const void*> order;
    for (auto it = handles_.begin(); it != handles_.end(); ++it) {
      if (std::find(it + 1, handles_.end(), *it) == handles_.end()) order.push_back(*it);
    }
    return order;
  }

  /// What a function that PyTorch has in Python was given: its first `arguments` values.
  void hold_arguments(lua_Debug& frame, int arguments) {
    lua_getinfo(state_, "f", &frame);
    const bool is_python = is_python_function(state_, -1);
    lua_pop(state_, 1);
    for (int number = 1; is_python && number <= arguments; ++number) {
      hold_slot(frame, number, "(C temporary)");
    }
  }

  void hold(lua_Debug& frame) {
    lua_getinfo(state_, "lf", &frame);
    const bool is_module_call = is_calling_module(lua_tocfunction(state_, -1));
    lua_pop(state_, 1);
    if (is_module_call) {
      hold_slots(frame, "(C temporary)");
    } else if (frame.currentline >= 0) {
      // Operands of unfinished expressions are left out: Python's frames drop theirs.
      hold_slots(frame, "");
    }
  }

 private:
  void hold_slots(const lua_Debug& frame, std::string_view temporary) {
    for (int number = 1; hold_slot(frame, number, temporary); ++number) {
    }
    for (int vararg = -1; hold_slot(frame, vararg, temporary); --vararg) {
    }
  }

  // False behind the last slot that counts: a variable, or a temporary of this name.
  bool hold_slot(const lua_Debug& frame, int number, std::string_view temporary) {
    const char* text = lua_getlocal(state_, &frame, number);
    if (text == nullptr) return false;
    const std::string_view name = text;
    if (name.substr(0, 1) == "(" && name.find("temporary") != std::string_view::npos &&
        name != temporary) {
      lua_pop(state_, 1);
      return false;
    }
    const auto note = [this](const void* handle) {
      if (handles_.size() < kMostInOrder) handles_.push_back(handle);
    };
    if (lua_type(state_, -1) == LUA_TUSERDATA) note(lua_touserdata(state_, -1));
    if (lua_type(state_, -1) == LUA_TTABLE) for_each_handle_in_list(state_, -1, note);
    lua_rawseti(state_, held_, ++count_);
    return true;
  }

  static constexpr std::size_t kMostInOrder = 256;

  lua_State* state_;
  int held_;
  lua_Integer count_ = 0;
  std::vector<const void*> handles_;
};

bool is_protected_call(lua_State* L, lua_Debug& frame) {
  lua_getinfo(L, "f", &frame);
  const bool is_protected = is_catching_function(lua_tocfunction(L, -1));
  lua_pop(L, 1);
  return is_protected;
}

// Python's traceback: the frames between where it is raised and where it is caught.
std::vector<const void*> push_held_variables(lua_State* L, int arguments) {
  lua_newtable(L);
  FrameHolder holder(L, lua_gettop(L));
  lua_Debug frame;
  if (lua_getstack(L, 0, &frame) != 0) holder.hold_arguments(frame, arguments);
  for (int level = 1; lua_getstack(L, level, &frame) != 0; ++level) {
    if (is_protected_call(L, frame)) break;
    holder.hold(frame);
  }
  return holder.handles_in_order();
}

}  // namespace

const HandleClass HandleOf<ErrorPtr>::kClass = {"out-of-memory error",
                                                kOutOfMemoryValueMetamethods};

void push_out_of_memory(lua_State* L, const OutOfMemory& error) {
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  const int arguments = lua_gettop(L);
  const auto kept = std::make_shared<OutOfMemory>(error);
  push_handle<ErrorPtr>(L, kept, 1);
  const void* const handle = lua_touserdata(L, -1);
  Interpreter::of(L).note_held_by_error(handle, push_held_variables(L, arguments),
                                        variables_of_script_error());
  lua_setiuservalue(L, -2, 1);
}

const OutOfMemory* test_out_of_memory(lua_State* L, int index) {
  const ErrorPtr* error = test_handle<ErrorPtr>(L, index);
  return error == nullptr ? nullptr : error->get();
}

}  // namespace ohm::lua
