#include "harness/lua/vm/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <new>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/cut_text.h"
#include "allocator_shim/base/format_bytes.h"
#include "harness/lua/vm/compile.h"
#include "harness/lua/vm/dead_registers.h"
#include "harness/lua/vm/overwrites.h"
#include "harness/lua/vm/pending_stores.h"
#include "harness/lua/vm/raw_values.h"
#include "harness/lua/vm/script_frame.h"

namespace ohm::lua {
namespace {

// How often instructions are counted: a thousandth of a second of Lua is about ten times as many.
constexpr int kCountPeriod = 1000;

// What luaL_where and tracebacks make of a path: the end of it when it is long.
std::string shortened(const std::string& path) {
  constexpr std::size_t kRoom = LUA_IDSIZE - 1;
  if (path.size() <= kRoom) return path;
  return "..." + path.substr(path.size() - (kRoom - std::strlen("...")));
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

int open_state(lua_State* L) {
  const auto seed = static_cast<std::uint64_t>(lua_tointeger(L, 1));
  check_frame_layout(L);
  check_raw_layout(L);
  Interpreter::of(L).bindings().open_globals(L, seed);
  return 0;
}

// Calls into the state from outside a protected call fail for a lack of memory alone. Lua is
// compiled as C++: the exception passes through it.
int throw_unprotected(lua_State* /*L*/) { throw std::bad_alloc(); }

// Lua's own, as one frame per line.
std::string frames_of(lua_State* L) {
  luaL_traceback(L, L, nullptr, 1);
  std::string text = lua_tostring(L, -1);
  lua_pop(L, 1);
  text.erase(0, text.find('\n') + 1);
  replace_all(text, "\t", "");
  return text;
}

}  // namespace

thread_local lua_State* Interpreter::running = nullptr;

Interpreter::Interpreter(std::string script_path, const engine::ScriptCaps& caps,
                         std::uint64_t seed, const Bindings& bindings)
    : script_path_(std::move(script_path)),
      caps_(caps),
      bindings_(bindings),
      memory_(caps.memory_bytes, [this] { note_refused_memory(); }),
      self_(std::make_shared<Interpreter* const>(this)) {
  state_.reset(raw::new_state(&ScriptMemory::reallocate, &memory_));
  lua_State* L = state();
  if (L == nullptr) throw engine::ScriptError("the memory cap leaves no room for a script");
  lua_atpanic(L, &throw_unprotected);
  *static_cast<Interpreter**>(lua_getextraspace(L)) = this;
  lua_pushcfunction(L, &open_state);
  lua_pushinteger(L, static_cast<lua_Integer>(seed));
  call(1, 0);
  watch(L);
}

Interpreter::~Interpreter() {
  lua_settop(state(), 0);
  collect(state());
  self_.reset();
}

void Interpreter::load(std::string_view source, const std::string& path) {
  if (compile(state(), source, path) != LUA_OK) throw_error_on_top();
}

int Interpreter::compile(lua_State* L, std::string_view source, const std::string& path) {
  files_.insert(path);
  return lua::compile(L, source, "@" + path);
}

void Interpreter::call(int arguments, int results) {
  lua_State* L = state();
  const int handler = lua_gettop(L) - arguments;
  lua_pushcfunction(L, &handle_message);
  lua_insert(L, handler);
  traceback_.clear();
  const int status = lua_pcall(L, arguments, results, handler);
  lua_remove(L, handler);
  if (failure_) lua_settop(L, handler - 1);
  rethrow_failure(L);
  note_reached_cap(L);
  if (!reached_cap_.empty()) {
    lua_settop(L, handler - 1);
    throw cap_error();
  }
  if (status != LUA_OK) throw_error_on_top();
}

void Interpreter::note_refused_memory() {
  refused_at_ = place_in(state());
  lifetimes_.note_refused_memory();
}

// Fills unreachable_: what handles held that are gone for good.
void Interpreter::find_unreachable(lua_State* L) {
  if (lifetimes_.is_watching() && find_unreachable_by_watching(L)) {
    if (lifetime_settings().is_checked) check_lifetimes(L);
    return;
  }
  find_by_collecting(L);
  settle_dying_objects(L);
  put_youngest_first();
  // What was closed was held so far: what it holds goes with the next collection.
  if (std::exchange(has_closed_objects_, false)) return;
  if (!lifetimes_.begin(L)) return;
  for (lua_State* coroutine : lifetimes_.coroutines()) watch(coroutine);
}

// Lua goes through what it found together with an object to find the object that stays: where much
// of that had ended, a second collection takes it away.
void Interpreter::find_by_collecting(lua_State* L) {
  constexpr std::size_t kMany = 1000;
  const std::size_t had_ended = ended_before_their_time_;
  ++collections_;
  lua_gc(L, LUA_GCCOLLECT);
  if (!has_dying_objects_ || had_ended < ended_before_their_time_ + kMany) return;
  ++collections_;
  lua_gc(L, LUA_GCCOLLECT);
}

// Lua may have collected some on its own since the last time, between others that were let go.
void Interpreter::put_youngest_first() {
  const auto is_younger = [](const DeadHandle& left, const DeadHandle& right) {
    return left.age > right.age;
  };
  if (std::is_sorted(unreachable_.begin(), unreachable_.end(), is_younger)) return;
  std::stable_sort(unreachable_.begin(), unreachable_.end(), is_younger);
}

// The collector has to find exactly what was found without it.
void Interpreter::check_lifetimes(lua_State* L) {
  const std::size_t found = unreachable_.size();
  lua_gc(L, LUA_GCCOLLECT);
  settle_dying_objects(L);
  OHM_ASSERT(unreachable_.size() == found, "a handle died unnoticed");
  OHM_ASSERT(ended_before_their_time_ == 0, "a handle ended that is alive");
}

bool Interpreter::find_unreachable_by_watching(lua_State* L) {
  const auto dead = lifetimes_.settle(L);
  if (dead && end_handles(L, *dead)) return true;
  // Other coroutines find out at their next instruction.
  if (lifetimes_.is_watching()) lifetimes_.end(L);
  watch(L);
  return false;
}

// The youngest first, as Lua does. False where the finalizer of one has to be called.
bool Interpreter::end_handles(lua_State* L, const std::vector<RawValue>& dead) {
  struct Ending {
    HandleHead* handle;
    EndHandle end;
  };
  std::vector<Ending> endings;
  const raw::Untouched untouched(L);
  for (const RawValue& userdata : dead) {
    raw::push(L, userdata);
    auto* const handle = static_cast<HandleHead*>(lua_touserdata(L, -1));
    const bool has_room = lua_rawlen(L, -1) >= sizeof(HandleHead);
    lua_pop(L, 1);
    // Lua's own userdata goes with the next collection.
    const auto known = has_room ? ends_.find(handle->kind) : ends_.end();
    if (known == ends_.end()) continue;
    if (known->second == nullptr) return false;
    if (handle->age != HandleHead::kEnded) endings.push_back({handle, known->second});
  }
  std::sort(endings.begin(), endings.end(), [](const Ending& left, const Ending& right) {
    return left.handle->age > right.handle->age;
  });
  for (const Ending& ending : endings) {
    ending.end(*this, ending.handle, ending.handle->age);
    ending.handle->age = HandleHead::kEnded;
    ++ended_before_their_time_;
  }
  return true;
}

void Interpreter::settle_dying_objects(lua_State* L) {
  if (!std::exchange(has_dying_objects_, false)) return;
  std::vector<const void*> found;
  for (const DeadHandle& dead : unreachable_) found.push_back(dead.handle);
  const std::set<const void*> kept = bindings_.settle_dying_objects(L, found);
  std::erase_if(unreachable_, [&](DeadHandle& dead) {
    if (!kept.contains(dead.handle)) return false;
    dead.restore(*this, dead.handle, std::move(dead.value));
    return true;
  });
}

void Interpreter::collect(lua_State* L) {
  find_unreachable(L);
  while (!unreachable_.empty()) {
    being_released_.swap(unreachable_);
    for (const void* handle : ended_call_.temporaries) release_of_ended_call(handle);
    ended_call_.locals.clear();
    for (const void* handle : ended_call_.variables) release_of_ended_call(handle);
    for (auto it = ended_variables_.begin(); it != ended_variables_.end(); ++it) {
      const bool is_held_later =
          std::find(it + 1, ended_variables_.end(), *it) != ended_variables_.end();
      if (!is_held_later) release(*it);
    }
    release_of_errors();
    for (std::size_t i = being_released_.size(); i > 0; --i) {
      DeadHandle& dead = being_released_[i - 1];
      if (dead.handle != ended_call_.last) dead.value.release();
    }
    being_released_.clear();
    forget_what_ended();
    // What was released may have held functions of the script, and they other handles.
    if (!std::exchange(has_dropped_references_, false)) return;
    find_unreachable(L);
  }
  // What is alive now will go with something else.
  forget_what_ended();
}

void Interpreter::forget_what_ended() {
  ended_call_ = {};
  ended_variables_.clear();
  variables_of_callers_.clear();
}

// What variables hold goes with these.
void Interpreter::release_of_ended_call(const void* handle) {
  const auto is_in = [handle](const std::vector<const void*>& variables) {
    return std::find(variables.begin(), variables.end(), handle) != variables.end();
  };
  if (!is_in(ended_variables_) && !is_in(variables_of_callers_)) release(handle);
}

// The functions that it leaves end without what it keeps of them.
void Interpreter::note_held_by_error(const void* error, std::vector<const void*> held,
                                     std::shared_ptr<const void> outer) {
  const auto is_held = [&held](const void* handle) {
    return std::find(held.begin(), held.end(), handle) != held.end();
  };
  std::erase_if(ended_variables_, is_held);
  Handles dropped;
  for (const void* handle : ended_call_.variables) {
    if (!is_held(handle)) dropped.push_back(handle);
  }
  ended_call_.variables = dropped;
  held_by_errors_[error] = {std::move(held), std::move(outer)};
}

void Interpreter::release_of_errors() {
  if (held_by_errors_.empty()) return;
  for (std::size_t i = being_released_.size(); i > 0; --i) {
    const auto error = held_by_errors_.find(being_released_[i - 1].handle);
    if (error == held_by_errors_.end()) continue;
    // What natives had it hold is of calls within those of the script, or around them.
    being_released_[i - 1].value.release();
    for (const void* handle : error->second.handles) release(handle);
    held_by_errors_.erase(error);
  }
}

void Interpreter::release(const void* handle) {
  for (DeadHandle& dead : being_released_) {
    if (dead.handle == handle) dead.value.release();
  }
}

void Interpreter::on_hook(lua_State* L, lua_Debug* frame) {
  Interpreter& self = of(L);
  try {
    if (frame->event == LUA_HOOKRET) return self.note_ended_function(L, *frame);
    if (self.lifetimes_.is_watching() && self.watch_instruction(L, *frame)) return;
  } catch (const std::exception&) {
    // Lua would take it for an error of the script.
    self.fail(L, std::current_exception());
    lua_pushliteral(L, "the script was ended");
    lua_error(L);
  }
  if (frame->event != LUA_HOOKRET) count_instructions(L);
}

// False where the script is not watched any more, and has reached a cap or failed.
bool Interpreter::watch_instruction(lua_State* L, const lua_Debug& frame) {
  const bool is_watched = !failure_ && reached_cap_.empty() && lifetimes_.on_instruction(L, frame);
  if (is_watched && ++instructions_ % kCountPeriod != 0) return true;
  if (is_watched) {
    note_reached_cap(L);
    if (reached_cap_.empty()) return true;
  }
  if (lifetimes_.is_watching()) lifetimes_.end(L);
  if (failure_ || !reached_cap_.empty()) return false;
  watch(L);
  return true;
}

namespace {

// For the hook that a function which returns calls.
std::vector<RawValue> returned_values(lua_State* L, lua_Debug& frame) {
  lua_getinfo(L, "r", &frame);
  std::vector<RawValue> values;
  for (int i = 0; i < frame.ntransfer; ++i) {
    values.push_back(raw::register_of(frame, frame.ftransfer - 1 + i));
  }
  return values;
}

}  // namespace

namespace {

// A script that calls nothing for long overwrites any number.
void add_of_some(std::vector<const void*>& handles, const void* handle) {
  constexpr std::size_t kMost = 256;
  if (handles.size() < kMost) handles.push_back(handle);
}

}  // namespace

void Interpreter::note_overwritten(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA && lua_type(L, index) != LUA_TTABLE) return;
  for (const void* handle : PendingStores(L).handles_in(raw::value_at(L, index))) {
    add_of_some(ended_variables_, handle);
  }
}

void Interpreter::note_ended_function(lua_State* L, lua_Debug& frame) {
  if (std::exchange(is_noted_, false)) return;
  std::vector<const void*> of_caller;
  Overwrites coming;
  const bool has_variables = is_lua_function(frame);
  if (std::optional<lua_Debug> caller = calling_function(L)) {
    const auto note = [&](const void* handle) { of_caller.push_back(handle); };
    if (has_variables) for_each_handle_in_variables(L, *caller, note);
    coming = coming_overwrites(L, *caller, returned_values(L, frame));
  }
  // What the caller has a variable of as well goes later: `x = f(x)`.
  const auto note_ended = [&](const void* handle) {
    const bool is_held = std::find(of_caller.begin(), of_caller.end(), handle) != of_caller.end();
    add_of_some(is_held ? variables_of_callers_ : ended_variables_, handle);
  };
  if (has_variables) for_each_handle_in_variables(L, frame, note_ended);
  for (const void* handle : coming.handles) add_of_some(ended_variables_, handle);
}

std::string_view Interpreter::file_of(const char* chunk_name) {
  if (chunk_name[0] != '@') return {};
  const std::string_view path = chunk_name + 1;
  if (path == last_file_) return last_file_;
  const auto known = files_.find(path);
  if (known == files_.end()) return {};
  return last_file_ = *known;
}

// Note [Caps cannot be caught]
// A script can catch the error that a cap raises, or an exception that it may not handle. From then
// on every single instruction raises it again, so that it gets no further than leaving its
// functions; what it returns is not looked at.
void Interpreter::count_instructions(lua_State* L) {
  Interpreter& self = of(L);
  self.instructions_ += static_cast<std::uint64_t>(lua_gethookcount(L));
  self.note_reached_cap(L);
  if (self.reached_cap_.empty() && !self.failure_) {
    // The native that called the script may have handled the failure and go on.
    if (lua_gethookcount(L) != kCountPeriod) self.watch(L);
    return;
  }
  lua_sethook(L, &on_hook, LUA_MASKCOUNT, 1);
  lua_pushstring(L, self.failure_ ? "the script was ended" : self.reached_cap_.c_str());
  lua_error(L);
}

void Interpreter::watch(lua_State* L) {
  lua_sethook(L, &on_hook, LUA_MASKCOUNT | LUA_MASKRET,
              lifetimes_.is_watching() ? 1 : kCountPeriod);
}

void Interpreter::fail(lua_State* L, std::exception_ptr failure) {
  failure_ = std::move(failure);
  lua_sethook(L, &on_hook, LUA_MASKCOUNT, 1);
}

void Interpreter::rethrow_failure(lua_State* L) {
  if (!failure_) return;
  if (reached_cap_.empty()) watch(L);
  std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Interpreter::note_reached_cap(lua_State* L) {
  if (!reached_cap_.empty()) return;
  if (memory_.is_exhausted()) {
    reached_cap_ = fmt::format("{}: the script exceeded its memory limit of {}", refused_at_,
                               human_bytes(caps_.memory_bytes));
  } else if (instructions_ >= caps_.instructions) {
    reached_cap_ = fmt::format("{}: the script executed more than {} instructions", place_in(L),
                               caps_.instructions);
  }
}

std::string Interpreter::place_in(lua_State* L) const {
  lua_Debug frame;
  for (int level = 0; L != nullptr && lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline > 0) return fmt::format("{}:{}", frame.short_src, frame.currentline);
  }
  return script_path_;
}

int Interpreter::handle_message(lua_State* L) {
  // Its report says where it was.
  if (of(L).bindings().test_out_of_memory(L, 1) != nullptr) return 1;
  if (lua_type(L, 1) != LUA_TSTRING) {
    // An address would make the message another one on every run.
    if (lua_type(L, 1) == LUA_TNUMBER) {
      lua_pushstring(L, lua_tostring(L, 1));
    } else if (luaL_callmeta(L, 1, "__tostring") == 0) {
      lua_pushfstring(L, "the error object is a %s value", luaL_typename(L, 1));
    }
    lua_replace(L, 1);
  }
  Interpreter& self = of(L);
  self.traceback_ = self.with_whole_paths(frames_of(L));
  lua_settop(L, 1);
  return 1;
}

void Interpreter::throw_error_on_top() {
  lua_State* L = state();
  if (const OutOfMemory* error = bindings_.test_out_of_memory(L, -1)) {
    OutOfMemoryReport report = error->report();
    lua_pop(L, 1);
    throw OutOfMemory(std::move(report));
  }
  const char* text = lua_tostring(L, -1);
  const std::string message = text == nullptr ? "an error without a message" : text;
  lua_pop(L, 1);
  throw script_error(message);
}

engine::ScriptError Interpreter::cap_error() const {
  engine::ScriptError error = script_error(reached_cap_);
  error.hint = "an endless loop, or a table that keeps growing?";
  error.is_endless = instructions_ >= caps_.instructions;
  return error;
}

engine::ScriptError Interpreter::script_error(std::string message) const {
  message = with_whole_paths(cut_text(std::move(message)));
  engine::ScriptError error(message);
  error.traceback = traceback_;
  for (const std::string& file : files_) {
    if (!message.starts_with(file + ":")) continue;
    error.file = file;
    const char* digits = message.c_str() + file.size() + 1;
    while (std::isdigit(static_cast<unsigned char>(*digits)) != 0) {
      error.line = error.line * 10 + (*digits++ - '0');
    }
  }
  return error;
}

std::string Interpreter::with_whole_paths(std::string text) const {
  for (const std::string& file : files_) {
    const std::string shown = shortened(file);
    if (shown != file) replace_all(text, shown + ":", file + ":");
  }
  return text;
}

}  // namespace ohm::lua
