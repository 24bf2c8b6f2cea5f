#include "harness/lua/bind/native.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "harness/lua/bind/stop_recomputation.h"
#include "harness/lua/vm/dead_registers.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/lua/vm/overwrites.h"
#include "harness/lua/vm/push_text.h"
#include "harness/lua/vm/raw_values.h"
#include "harness/lua/vm/script_frame.h"
#include "runtime/autograd/checkpoint.h"
#include "runtime/base/inline_vector.h"
#include "runtime/lifetimes/call_frames.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

struct ScriptLine {
  std::string_view file;  ///< empty: no function of a file is running
  int line = 0;
};

// The innermost function that came from a file: natives and chunks of load() have no lines.
ScriptLine running_line(lua_State* L, Interpreter& interpreter) {
  lua_Debug frame;
  for (int level = 1; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    const std::string_view file = interpreter.file_of(frame.source);
    if (!file.empty()) return {file, frame.currentline};
  }
  return {};
}

/// Tells the runtime which line of the script runs, for as long as the native does: natives call
/// functions of the script, which call natives.
class LineScope {
 public:
  LineScope(lua_State* L, Interpreter& interpreter)
      : state_(Context::current().state), previous_{state_.file, state_.line} {
    const ScriptLine running = running_line(L, interpreter);
    if (running.file.empty()) return;
    state_.file = running.file;
    state_.line = running.line;
  }
  ~LineScope() {
    state_.file = previous_.file;
    state_.line = previous_.line;
  }
  LineScope(const LineScope&) = delete;
  LineScope& operator=(const LineScope&) = delete;

 private:
  ExecutionState& state_;
  ScriptLine previous_;
};

void push_message(lua_State* L, Interpreter& interpreter, const char* message) {
  const ScriptLine at = running_line(L, interpreter);
  const std::string text =
      at.file.empty() ? message : fmt::format("{}:{}: {}", at.file, at.line, message);
  push_text(L, text);
}

// Those that end with the call: an operator leaves the variables among its operands alone.
Interpreter::Handles handles_among_arguments(lua_State* L, Entry entry) {
  Interpreter::Handles handles;
  for (int index = 1; index <= lua_gettop(L); ++index) {
    if (lua_type(L, index) == LUA_TTABLE) {
      for_each_handle_in_list(L, index, [&](const void* handle) { handles.push_back(handle); });
    }
    if (lua_type(L, index) != LUA_TUSERDATA) continue;
    if (entry == Entry::operator_call && is_variable_operand(L, index)) continue;
    handles.push_back(lua_touserdata(L, index));
  }
  return handles;
}

template <class T>
bool is_in(const T& handles, const void* handle) {
  return std::find(handles.begin(), handles.end(), handle) != handles.end();
}

// Results that the script does not take go with the call, but for arguments: `x:zero_()`.
void add_dropped_results(lua_State* L, const lua_Debug& caller, int results,
                         Interpreter::EndedCall& call) {
  const std::optional<int> wanted = wanted_results(caller);
  if (!wanted) return;
  for (int index = *wanted - results; index < 0; ++index) {
    if (lua_type(L, index) != LUA_TUSERDATA) continue;
    const void* const handle = lua_touserdata(L, index);
    if (!is_in(call.variables, handle)) call.temporaries.push_back(handle);
  }
}

// What also is a variable of the caller's outlives the call: `x = x:op(temporary)`.
Interpreter::EndedCall ended_call(lua_State* L, const Interpreter::Handles& arguments,
                                  int results) {
  Interpreter::EndedCall call;
  const std::optional<lua_Debug> caller = calling_function(L);
  if (!caller) {
    call.temporaries = arguments;
    return call;
  }
  InlineVector<RawValue, 4> returned;
  for (int index = -results; index < 0; ++index) returned.push_back(raw::value_at(L, index));
  const Overwrites coming = coming_overwrites(L, *caller, {returned.begin(), returned.end()});
  for (const void* handle : coming.handles) call.variables.push_back(handle);
  call.last = coming.after_elements;
  std::vector<const void*> variables;
  const bool has_order = arguments.size() + call.variables.size() > 1;
  const auto note = [&](const void* found) { variables.push_back(found); };
  if (!arguments.empty() && has_order) for_each_handle_in_variables(L, *caller, note);
  for (const void* handle : arguments) {
    if (is_in(call.variables, handle)) continue;
    (is_in(variables, handle) ? call.variables : call.temporaries).push_back(handle);
  }
  add_dropped_results(L, *caller, results, call);
  return call;
}

// What the variables of the functions hold that an error ends: in Python the innermost function
// lets go first, and what several of them hold goes with the outermost one.
std::vector<const void*> handles_in_frames(lua_State* L) {
  std::vector<const void*> held;
  lua_Debug frame;
  for (int level = 1; lua_getstack(L, level, &frame) != 0; ++level) {
    for_each_handle_in_variables(L, frame, [&](const void* handle) { held.push_back(handle); });
  }
  std::unordered_set<const void*> seen;
  const auto is_held_further_out = [&](const void* handle) { return !seen.insert(handle).second; };
  const auto kept = std::remove_if(held.rbegin(), held.rend(), is_held_further_out);
  held.erase(held.begin(), kept.base());
  return held;
}

// `failed`: the call that raised the error. Its temporaries, which no function holds, go before
// everything else.
void note_ended_functions(lua_State* L, Interpreter& interpreter,
                          Interpreter::EndedCall failed) noexcept {
  try {
    const std::vector<const void*> held = handles_in_frames(L);
    Interpreter::EndedCall ended;
    for (const void* handle : failed.temporaries) {
      if (!is_in(held, handle)) ended.temporaries.push_back(handle);
    }
    ended.locals = std::move(failed.locals);
    for (const void* handle : held) ended.variables.push_back(handle);
    interpreter.note_ended_call(std::move(ended));
  } catch (const std::bad_alloc&) {
    // They go in another order then.
  }
}

}  // namespace

int run_native(lua_State* L, lua_CFunction function, Entry entry) {
  Interpreter& interpreter = Interpreter::of(L);
  Interpreter::EndedCall call;
  try {
    if (entry == Entry::access) {
      const int results = function(L);
      interpreter.note_return();
      return results;
    }
    if (entry == Entry::assignment) return function(L);
    const Interpreter::RunningScope running(L);
    const LineScope line(L, interpreter);
    if (entry == Entry::operator_call) clear_dead_registers(L);
    interpreter.collect(L);
    call.temporaries = handles_among_arguments(L, entry);
    LocalsOfCall locals;
    const int results = function(L);
    call = ended_call(L, call.temporaries, results);
    for (Tensor& local : locals.take()) call.locals.emplace_back(std::move(local));
    interpreter.note_ended_call(std::move(call));
    interpreter.note_return();
    return results;
  } catch (const StopRecomputation&) {
    note_ended_functions(L, interpreter, std::move(call));
    push_stop_recomputation(L);
  } catch (const OutOfMemory& error) {
    note_ended_functions(L, interpreter, std::move(call));
    interpreter.bindings().push_out_of_memory(L, error);
  } catch (const engine::ScriptError& error) {
    lua_pushstring(L, error.what());
  } catch (const std::invalid_argument& error) {
    push_message(L, interpreter, error.what());
  } catch (const std::runtime_error& error) {
    push_message(L, interpreter, error.what());
  } catch (const std::bad_alloc&) {
    push_message(L, interpreter, "this call needs more memory than the host has");
  } catch (const std::exception& error) {
    interpreter.fail(L, std::current_exception());
    push_message(L, interpreter, error.what());
  }
  return lua_error(L);
}

}  // namespace ohm::lua
