#include "harness/lua/bind/script_hooks.h"

#include <algorithm>
#include <iterator>

#include "harness/lua/bind/module_handle.h"

namespace ohm::lua {
namespace {

// Pops `count` values into a new list, which is pushed.
void push_list_of(lua_State* L, int count) {
  lua_createtable(L, count, 0);
  lua_insert(L, -count - 1);
  for (int i = count; i >= 1; --i) lua_rawseti(L, -i - 1, i);
}

}  // namespace

ScriptHooks::ScriptHooks(lua_State* L, const nn::ModulePtr& module)
    : interpreter_(&Interpreter::of(L)), module_(module) {}

lua_State* ScriptHooks::running_state() const { return interpreter_->running_state(); }

int ScriptHooks::add(lua_State* L, When when) {
  hooks_.push_back({next_number_, when, std::make_shared<Reference>(L)});
  return next_number_++;
}

void ScriptHooks::remove(int number) {
  std::erase_if(hooks_, [number](const Hook& hook) { return hook.number == number; });
}

// A hook may remove itself while it runs.
std::vector<ScriptHooks::Hook> ScriptHooks::hooks_of(When when) const {
  std::vector<Hook> hooks;
  std::copy_if(hooks_.begin(), hooks_.end(), std::back_inserter(hooks),
               [when](const Hook& hook) { return hook.when == when; });
  return hooks;
}

// hook(module, inputs): nil, a list of inputs, or the only one.
void ScriptHooks::before_call(lua_State* L) {
  for (const Hook& hook : hooks_of(When::before_forward)) {
    const int inputs = lua_gettop(L) - 1;
    luaL_checkstack(L, inputs + LUA_MINSTACK, nullptr);
    hook.function->push(L);
    push_module(L, module_.lock());
    for (int index = 2; index <= inputs + 1; ++index) lua_pushvalue(L, index);
    push_list_of(L, inputs);
    lua_call(L, 2, 1);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      continue;
    }
    lua_replace(L, 2);
    lua_settop(L, 2);
    if (lua_type(L, 2) != LUA_TTABLE) continue;
    const auto count = static_cast<int>(lua_rawlen(L, 2));
    luaL_checkstack(L, count + LUA_MINSTACK, nullptr);
    for (int i = 1; i <= count; ++i) lua_rawgeti(L, 2, i);
    lua_remove(L, 2);
  }
  const int inputs = lua_gettop(L) - 1;
  for (int index = 2; index <= inputs + 1; ++index) lua_pushvalue(L, index);
  push_list_of(L, inputs);
}

// hook(module, inputs, results…): nothing or nil, or other results.
void ScriptHooks::after_call(lua_State* L, int inputs) {
  for (const Hook& hook : hooks_of(When::after_forward)) {
    const int top = lua_gettop(L);
    luaL_checkstack(L, top + LUA_MINSTACK, nullptr);
    hook.function->push(L);
    push_module(L, module_.lock());
    for (int index = inputs; index <= top; ++index) lua_pushvalue(L, index);
    lua_call(L, top - inputs + 2, LUA_MULTRET);
    if (lua_gettop(L) == top || lua_isnil(L, top + 1)) {
      lua_settop(L, top);
      continue;
    }
    for (int index = top; index > inputs; --index) lua_remove(L, index);
  }
}

void ScriptHooks::before(nn::Module& module, std::vector<nn::Value>& inputs) {
  lua_State* L = running_state();
  for (const Hook& hook : hooks_of(When::before_forward)) {
    const int top = lua_gettop(L);
    luaL_checkstack(L, static_cast<int>(inputs.size()) + LUA_MINSTACK, nullptr);
    hook.function->push(L);
    push_module(L, module_.lock());
    for (const nn::Value& input : inputs) push_call_argument(L, input);
    push_list_of(L, static_cast<int>(inputs.size()));
    lua_call(L, 2, 1);
    const ArgumentName name{module.type_name(), "result of a forward pre-hook"};
    if (lua_type(L, -1) == LUA_TTABLE) {
      inputs.clear();
      const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
      for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, top + 1, i);
        inputs.push_back(call_argument(L, -1, name));
        lua_pop(L, 1);
      }
    } else if (!lua_isnil(L, -1)) {
      inputs = {call_argument(L, -1, name)};
    }
    lua_settop(L, top);
    interpreter_->collect(L);
  }
}

void ScriptHooks::after(nn::Module& module, const std::vector<nn::Value>& inputs,
                        nn::Value& output) {
  lua_State* L = running_state();
  for (const Hook& hook : hooks_of(When::after_forward)) {
    const int top = lua_gettop(L);
    luaL_checkstack(L, static_cast<int>(inputs.size()) + LUA_MINSTACK, nullptr);
    hook.function->push(L);
    push_module(L, module_.lock());
    for (const nn::Value& input : inputs) push_call_argument(L, input);
    push_list_of(L, static_cast<int>(inputs.size()));
    push_call_argument(L, output);
    lua_call(L, 3, 1);
    if (!lua_isnil(L, -1)) {
      output = call_argument(L, -1, {module.type_name(), "result of a forward hook"});
    }
    lua_settop(L, top);
    interpreter_->collect(L);
  }
}

}  // namespace ohm::lua
