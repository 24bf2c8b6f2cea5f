// Every function and method of the library, called with random values of a script: it works, or
// raises an error that names a place; nothing else happens.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "harness/lua/bind/op_functions.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/libraries.h"
#include "harness/lua/libraries/library_table.h"
#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

constexpr std::size_t kCapacity = std::size_t{64} << 20U;

// body(seed, calls, methods, paths): calls functions of the library and methods of what they
// returned. An error must be a text, or be one of memory, and must not be ours.
constexpr const char* kScript = R"lua(
local nn, F = ohm.nn, ohm.nn.functional
local kept = {}

local function resolve(paths)
  local functions = {}
  for _, path in ipairs(paths) do
    local value = ohm
    for name in path:sub(5):gmatch("[^.]+") do value = value[name] end
    if type(value) == "function" then functions[#functions + 1] = {path, value} end
  end
  return functions
end

local numbers = {0, 1, 2, 3, 5, -1, -7, 1 << 40, 1 << 62, math.maxinteger, math.mininteger,
                 (1 << 36) + 1, 0.5, -0.5, 1e300, 0/0, 1/0, -1/0}
local texts = {"", "mean", "sum", "none", "cpu", "cuda", "cuda:1", "cuda:7", "float16", "int64",
               "bilinear", "nonsense", "mode\0x", ("x"):rep(300)}
local names = {"dim", "dtype", "device", "requires_grad", "keepdim", "p", "size", "bias", "lr",
               "inplace", "reduction", "retain_graph", "1"}

local function pick(list) return list[math.random(#list)] end

local function tensor()
  local device, dtype = pick {"cpu", "cuda", "cuda", "cuda:1"}, pick {"float32", "float32", "float16",
                                                              "float64", "int64", "bool"}
  local shapes = {{}, {0}, {1}, {4}, {2, 3}, {3, 3}, {2, 0}, {2, 3, 4}, {1, 2, 4, 4}, {4, 4, 1, 1},
                  {1, 1, 1, 1, 1, 1, 1, 1}}
  local made = ohm.ones(pick(shapes), {device = device, dtype = dtype})
  local kind = math.random(6)
  if kind == 1 and dtype:find("float") then made:requires_grad_() end
  if kind == 2 and made:dim() >= 2 then made = made:transpose(0, 1) end
  if kind == 3 and dtype:find("float") then made = made:requires_grad_() * 2 end
  return made
end

local value
local function list(depth)
  local made = {}
  for i = 1, math.random(0, 4) do made[i] = value(depth + 1) end
  local kind = math.random(8)
  if kind == 1 then made[7] = value(depth + 1) end
  if kind == 2 then made[pick(names)] = value(depth + 1) end
  if kind == 3 then made[1.5] = true end
  return made
end

function value(depth)
  local kind = math.random(12)
  if kind <= 4 then return tensor() end
  if kind <= 6 then return pick(numbers) end
  if kind == 7 then return pick(texts) end
  if kind == 8 and depth < 3 then return list(depth) end
  if kind == 9 then return math.random(2) == 1 end
  if kind == 10 and #kept > 0 then return pick(kept) end
  if kind == 11 then return function(...) return ... end end
  return nil
end

local function named()
  local made = {}
  for _ = 1, math.random(3) do made[pick(names)] = value(1) end
  return made
end

local function arguments()
  local count = math.random(0, 5)
  local made = {}
  for i = 1, count do made[i] = value(0) end
  if math.random(4) == 1 then count = count + 1 made[count] = named() end
  return count, made
end

local function keep(result)
  if type(result) == "userdata" then kept[math.random(8)] = result end
end

local function call(what, fn, ...)
  local results = table.pack(pcall(fn, ...))
  if results[1] then
    for i = 2, results.n do keep(results[i]) end
    return
  end
  local message = results[2]
  if type(message) ~= "string" then message = message.message end
  assert(type(message) == "string" and #message > 0, what .. ": an error without a message")
  assert(not message:find("internal error"), what .. ": " .. message)
end

function body(seed, calls, methods, paths)
  math.randomseed(seed)
  local functions = resolve(paths)
  assert(#functions > 200, "functions of the library are missing")
  for _ = 1, calls do
    local count, given = arguments()
    if math.random(3) == 1 then
      local method, receiver = pick(methods), pick(kept) or tensor()
      if math.random(2) == 1 then receiver = tensor() end
      call(method, function(...) return receiver[method](receiver, ...) end,
           table.unpack(given, 1, count))
    else
      local chosen = pick(functions)
      call(chosen[1], chosen[2], table.unpack(given, 1, count))
    end
  end
end
)lua";

class AnyCall : public ScriptTest, public testing::WithParamInterface<int> {
 protected:
  AnyCall()
      : ScriptTest({.gpus = 2,
                    .capacity_bytes = kCapacity,
                    .host_capacity_bytes = kCapacity,
                    .values = GetParam() % 2 == 0 ? ValueMode::keeps_values : ValueMode::size_only},
                   {.instructions = UINT64_MAX, .memory_bytes = 256U << 20U}) {}

  static std::vector<std::string> method_names() {
    std::vector<std::string> names = lua::op_names(ops::kMethod);
    for (const luaL_Reg& method : tensor_methods()) names.emplace_back(method.name);
    for (const char* name : {"parameters", "named_parameters", "to", "train", "eval", "zero_grad",
                             "step", "state_dict", "load_state_dict", "children", "half", "forward",
                             "scale", "unscale_", "update", "record", "synchronize"}) {
      names.emplace_back(name);
    }
    return names;
  }

  // All but what writes files and what makes scenarios of the script itself.
  static std::vector<std::string> function_paths() {
    std::vector<std::string> paths;
    for (const lua::Library& library : lua::libraries()) {
      for (const std::string& name : lua::names_of(library)) {
        if (name == "dump_snapshot" || name == "scenario") continue;
        paths.push_back(std::string(library.name) + "." + name);
      }
    }
    return paths;
  }

  static void push_list(lua_State* L, const std::vector<std::string>& names) {
    lua_newtable(L);
    lua_Integer next = 1;
    for (const std::string& name : names) {
      lua_pushlstring(L, name.data(), name.size());
      lua_rawseti(L, -2, next++);
    }
  }
};

TEST_P(AnyCall, WorksOrRaisesAnError) {
  interpreter_->load(kScript, kPath);
  interpreter_->call(0, 0);
  lua_State* L = interpreter_->state();
  lua_getglobal(L, "body");
  lua_pushinteger(L, GetParam());
  const char* calls = std::getenv("OHM_FUZZ_CALLS");
  lua_pushinteger(L, calls == nullptr ? 3000 : std::atoi(calls));
  push_list(L, method_names());
  push_list(L, function_paths());
  interpreter_->call(4, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnyCall, testing::Range(0, 4));

}  // namespace
}  // namespace ohm::test
