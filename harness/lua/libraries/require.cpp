#include "harness/lua/libraries/require.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/scenario/required_modules.h"
#include "harness/scenario/source_file.h"

namespace ohm::lua {
namespace {

namespace fs = std::filesystem;

// The registry key of the table of what modules returned.
constexpr char kLoadedModules = 0;

void push_loaded_modules(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kLoadedModules) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  Interpreter::of(L).lifetimes().note_held(L, -1);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kLoadedModules);
}

// Notes for as long as it lives that a module is being run.
class ModuleInProgress {
 public:
  ModuleInProgress(Interpreter& interpreter, const std::string& name)
      : modules_(interpreter.modules_in_progress) {
    const auto [position, is_new] = modules_.insert(name);
    if (!is_new) {
      throw std::invalid_argument(fmt::format("[require] module '{}' requires itself", name));
    }
    position_ = position;
  }
  ~ModuleInProgress() { modules_.erase(position_); }
  ModuleInProgress(const ModuleInProgress&) = delete;
  ModuleInProgress& operator=(const ModuleInProgress&) = delete;

 private:
  std::set<std::string>& modules_;
  std::set<std::string>::iterator position_;
};

bool is_inside(const fs::path& folder, const fs::path& file) {
  const fs::path root = fs::canonical(folder);
  const fs::path real = fs::canonical(file);
  return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

std::string find_file(const Interpreter& interpreter, std::string_view name) {
  const auto places = engine::module_places(interpreter.script_path(), name);
  if (!places) {
    throw std::invalid_argument(fmt::format(
        "[require] '{}' is not a module name: write \"folder.file\" for folder/file.lua", name));
  }
  const fs::path folder = fs::path(interpreter.script_path()).parent_path();
  for (const std::string& place : *places) {
    if (!fs::exists(place)) {
      // It may have gone since it was read.
      if (interpreter.modules.contains(place)) return place;
      continue;
    }
    if (is_inside(folder.empty() ? "." : folder, place)) return place;
    throw std::invalid_argument(
        fmt::format("[require] {} is outside the scenario's folder", place));
  }
  throw std::invalid_argument(
      fmt::format("[require] module '{}' not found: neither {} nor {} exists", name,
                  places->front(), places->back()));
}

// Of the version that is read first.
const std::string& text_of(Interpreter& interpreter, const std::string& path) {
  const auto known = interpreter.modules.find(path);
  if (known != interpreter.modules.end()) return known->second;
  try {
    return interpreter.modules.emplace(path, engine::read_source_file(path)).first->second;
  } catch (const engine::ScriptError& error) {
    throw std::invalid_argument(fmt::format("[require] {}", error.what()));
  }
}

// Pushes what the file returns.
void run_file(lua_State* L, const std::string& path) {
  Interpreter& interpreter = Interpreter::of(L);
  if (interpreter.compile(L, text_of(interpreter, path), path) != LUA_OK) lua_error(L);
  lua_call(L, 0, 1);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_pushboolean(L, 1);
}

}  // namespace

int require_module(lua_State* L) {
  const std::string name(string_argument(L, 1, {"require", "name"}));
  lua_settop(L, 0);
  push_loaded_modules(L);
  if (lua_getfield(L, 1, name.c_str()) != LUA_TNIL) return 1;
  Interpreter& interpreter = Interpreter::of(L);
  const ModuleInProgress progress(interpreter, name);
  run_file(L, find_file(interpreter, name));
  interpreter.lifetimes().note_unknown_write();
  lua_pushvalue(L, -1);
  lua_setfield(L, 1, name.c_str());
  return 1;
}

}  // namespace ohm::lua
