#include "harness/lua/libraries/monitor_library.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/observe/gpu_monitor.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/lua/vm/push_text.h"
#include "harness/machine/machine.h"

namespace ohm::lua {
namespace {

engine::Machine& machine_of(lua_State* L, std::string_view function) {
  engine::RunContext* const run = Interpreter::of(L).run;
  if (run != nullptr) return run->machine();
  throw std::invalid_argument(
      fmt::format("[{}] there are no GPUs yet: call it in a variant's function", function));
}

std::vector<MonitoredGpu> monitored_gpus(lua_State* L, std::string_view function) {
  engine::Machine& machine = machine_of(L, function);
  std::vector<MonitoredGpu> gpus;
  for (int index = 0; index < machine.gpu_count(); ++index) {
    const DeviceMemoryInfo info = machine.requests(index).info();
    gpus.push_back({index, std::string(machine.profile(index).name),
                    info.total_bytes - info.free_bytes, info.total_bytes});
  }
  return gpus;
}

int return_text(lua_State* L, const std::string& text) {
  push_text(L, text);
  return 1;
}

// smi([{query_gpu = "index,memory.used", format = "csv,noheader,nounits"}]): nvidia-smi's text.
int smi(lua_State* L) {
  const NamedArguments named(L, "smi");
  constexpr std::string_view kNames[] = {"query_gpu", "format"};
  named.check_names(kNames);
  const std::vector<MonitoredGpu> gpus = monitored_gpus(L, "smi");
  if (!named.push("query_gpu")) return return_text(L, smi_table(gpus));
  const std::string fields(string_argument(L, -1, {"smi", "query_gpu"}));
  std::string format = "csv";
  if (named.push("format")) format = string_argument(L, -1, {"smi", "format"});
  return return_text(L, smi_query(gpus, fields, format));
}

int show_utilization(lua_State* L) {
  return return_text(L, utilization_table(monitored_gpus(L, "show_utilization")));
}

// process(fn): calls fn(device) in another process on the same GPUs, which ends with the call.
int process(lua_State* L) {
  if (lua_type(L, 1) != LUA_TFUNCTION) refuse_argument(L, 1, {"process", "fn"}, "a function");
  lua_settop(L, 1);
  {
    const engine::Machine::ProcessScope scope(machine_of(L, "process"));
    lua_pushstring(L, "cuda:0");
    lua_call(L, 1, LUA_MULTRET);
  }
  for (int index = 1; index <= lua_gettop(L); ++index) {
    const int type = lua_type(L, index);
    if (type == LUA_TNIL || type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TBOOLEAN) {
      continue;
    }
    throw std::invalid_argument(fmt::format(
        "[process] a process can return numbers and strings only, not {}", type_of(L, index)));
  }
  return lua_gettop(L);
}

constexpr luaL_Reg kMonitorFunctions[] = {
    {"process", native<process>},
    {"show_utilization", native<show_utilization>},
    {"smi", native<smi>},
};

}  // namespace

std::span<const luaL_Reg> monitor_functions() { return kMonitorFunctions; }

}  // namespace ohm::lua
