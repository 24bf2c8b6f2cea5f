// The interpreter owns a Lua state: its memory and its caps, the boundary at which errors become
// C++ exceptions, and the life of what its handles hold.
#pragma once

#include <cstdint>
#include <exception>
#include <lua.hpp>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/lua/vm/bindings.h"
#include "harness/lua/vm/held_value.h"
#include "harness/lua/vm/lifetimes.h"
#include "harness/lua/vm/scenario_parameters.h"
#include "harness/lua/vm/script_memory.h"
#include "harness/scenario/scenario_program.h"
#include "runtime/base/inline_vector.h"

namespace ohm::lua {

/// What a script sets for its whole process, and the runtime knows nothing of.
struct ScriptSettings {
  int memory_pools_in_use = 0;
};

/// One per script. It runs against the ohm::Context of its thread, which outlives it.
class Interpreter {
 public:
  /// `script_path` names the script; `require` looks in its folder and that folder's lib/. `seed`
  /// is of math.random. The bindings outlive the interpreter.
  Interpreter(std::string script_path, const engine::ScriptCaps& caps, std::uint64_t seed,
              const Bindings& bindings);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter();

  /// The owner of a state or of one of its coroutines.
  static Interpreter& of(lua_State* L) {
    return **static_cast<Interpreter**>(lua_getextraspace(L));
  }

  lua_State* state() { return state_.get(); }
  /// The coroutine whose native runs on this thread; the main state when none does.
  lua_State* running_state() { return running != nullptr ? running : state(); }
  /// Locks for as long as the script can be called.
  std::weak_ptr<Interpreter* const> self() const { return self_; }
  const std::string& script_path() const { return script_path_; }
  const Bindings& bindings() const { return bindings_; }

  /// Compiles `source`, the text of the file `path`, and pushes the function. Throws
  /// engine::ScriptError.
  void load(std::string_view source, const std::string& path);
  /// The same for natives, on their own stack: pushes the function, or a message. Returns Lua's
  /// status.
  int compile(lua_State* L, std::string_view source, const std::string& path);

  /// Calls the function below the `arguments` on the stack, as lua_call. Throws OutOfMemory when
  /// one leaves the function uncaught, engine::ScriptError for any other error of the script;
  /// exceptions of natives that no script may handle pass through. Function and arguments are
  /// gone from the stack in any case.
  void call(int arguments, int results);

  /// Collects what the script cannot reach, and releases what its handles held.
  ///
  /// Note [Order of release]
  /// Several handles can have died since the last collection, and Python would have released them
  /// one by one. In `x = f(g())` the result of g goes when f returns, before x loses what it held:
  /// so the arguments of the call that ended last go first, but for those that are variables. Then
  /// go what the script overwrote since (see Note [The order of overwrites]) and the variables of
  /// functions that have returned, in the order in which they stand there, then what errors held,
  /// and all others oldest first. The elements of a list that stands among
  /// arguments or variables go from the last to the first, as Python's do.
  void collect(lua_State* L);
  /// The same with a look at all values of the script, which finds cycles of objects, too.
  void collect_fully(lua_State* L) {
    lifetimes_.note_unknown_write();
    collect(L);
  }

  /// How often the collector has looked at all values of the script.
  std::uint64_t collections() const { return collections_; }

  /// Gives a handle back what it held.
  using Restore = void (*)(Interpreter& interpreter, void* handle, HeldValue&& value);
  /// For finalizers: takes over what a handle held until collect() releases it, or restores it.
  void defer_release(HandleHead* handle, std::uint64_t age, HeldValue value, Restore restore) {
    unreachable_.push_back({handle, age, std::move(value), restore});
  }
  /// For finalizers of objects: see Note [Cycles].
  void note_dying_object(HandleHead* object, std::uint64_t age) {
    has_dying_objects_ = true;
    if (age == HandleHead::kYoungest) has_closed_objects_ = true;
    defer_release(object, age, HeldValue(), [](Interpreter&, void* /*object*/, HeldValue&&) {});
  }

  /// The classes of which there were handles so far.
  const std::vector<const HandleClass*>& handle_classes() const { return handle_classes_; }
  /// Ends a handle before Lua does, so that its finalizer finds nothing to do.
  using EndHandle = void (*)(Interpreter& interpreter, HandleHead* handle, std::uint64_t age);
  /// `end` is null for a class whose finalizer is of its own kind.
  void note_handle_class(const HandleClass& kind, EndHandle end) {
    handle_classes_.push_back(&kind);
    ends_[&kind] = end;
  }
  /// For finalizers: Lua has found a handle that had ended by then.
  void note_found_ended() { --ended_before_their_time_; }
  /// For a handle whose finalizer Lua will call once more: it is the youngest for Lua.
  void note_armed_again(HandleHead* handle) { handle->age = ++handles_made_; }
  /// For a new handle, which is on top of the stack: the number that tells its age.
  std::uint64_t note_new_handle(lua_State* L) {
    lifetimes_.note_new(L);
    return ++handles_made_;
  }
  const engine::ScriptCaps& caps() const { return caps_; }
  /// Natives tell it what they write to values of the script.
  Lifetimes& lifetimes() { return lifetimes_; }

  /// Of classes that are listed: those that have not ended.
  std::unordered_set<void*> listed_handles;

  /// What Python has in cycles of its own making, so that nothing but gc.collect() lets it go.
  std::vector<std::shared_ptr<void>> in_cycles;

  using Handles = InlineVector<const void*, 4>;
  /// Of a call that is about to end, in the order in which it goes. `variables`: what the variable
  /// held that the call's result is assigned to, then the variables among the arguments. `last`:
  /// what goes when everything else has gone, or null.
  struct EndedCall {
    Handles temporaries;
    std::vector<HeldValue> locals;
    Handles variables;
    const void* last = nullptr;
  };
  void note_ended_call(EndedCall call) { ended_call_ = std::move(call); }
  /// The running native ends what the value at `index` holds before what the script overwrites
  /// next.
  void note_overwritten(lua_State* L, int index);
  /// The running native of ours returns: what it lets go is noted, or there is nothing.
  void note_return() { is_noted_ = true; }

  /// For a new handle of an error: what it holds, in the order in which that goes with it.
  /// `outer`: of the natives that it leaves after that; goes last.
  void note_held_by_error(const void* error, std::vector<const void*> held,
                          std::shared_ptr<const void> outer);

  /// For references to values of the script that C++ objects held: one went.
  void note_dropped_reference() { has_dropped_references_ = true; }

  /// The file that a chunk came from, given its name as lua_Debug has it; empty for a chunk that
  /// came from no file. The text stays valid.
  std::string_view file_of(const char* chunk_name);

  /// For natives: remembers an exception that no script may handle; call() throws it, or a native
  /// that has called the script. What `L` runs ends at its next instruction.
  void fail(lua_State* L, std::exception_ptr failure);
  /// For natives that have called the script on `L`: throws what fail() remembers.
  void rethrow_failure(lua_State* L);

  engine::RunContext* run = nullptr;  ///< the running variant; nullptr while a file is loaded
  ScenarioParameters parameters;      ///< what the script declares and what was set from outside
  ScriptSettings settings;
  engine::ModuleTexts modules;                ///< that are read; by their paths
  std::set<std::string> modules_in_progress;  ///< what `require` is about to run

  /// Tells running_state() which coroutine's native runs, while the scope lives.
  class RunningScope {
   public:
    explicit RunningScope(lua_State* L) : previous_(std::exchange(running, L)) {}
    ~RunningScope() { running = previous_; }
    RunningScope(const RunningScope&) = delete;
    RunningScope& operator=(const RunningScope&) = delete;

   private:
    lua_State* previous_;
  };

 private:
  struct DeadHandle {
    void* handle;
    std::uint64_t age;
    HeldValue value;
    Restore restore;
  };
  struct Closer {
    void operator()(lua_State* L) const { lua_close(L); }
  };

  // Ranks of a distributed program are threads that take turns, each in a coroutine of its own.
  static thread_local lua_State* running;

  void note_refused_memory();
  void find_unreachable(lua_State* L);
  void find_by_collecting(lua_State* L);
  void settle_dying_objects(lua_State* L);
  void put_youngest_first();
  void check_lifetimes(lua_State* L);
  bool find_unreachable_by_watching(lua_State* L);
  bool end_handles(lua_State* L, const std::vector<RawValue>& dead);
  bool watch_instruction(lua_State* L, const lua_Debug& frame);
  static void on_hook(lua_State* L, lua_Debug* frame);
  static void count_instructions(lua_State* L);
  void watch(lua_State* L);
  void note_ended_function(lua_State* L, lua_Debug& frame);
  void forget_what_ended();
  void release_of_ended_call(const void* handle);
  void release_of_errors();
  void release(const void* handle);
  static int handle_message(lua_State* L);
  void note_reached_cap(lua_State* L);
  std::string place_in(lua_State* L) const;
  [[noreturn]] void throw_error_on_top();
  engine::ScriptError script_error(std::string message) const;
  engine::ScriptError cap_error() const;
  std::string with_whole_paths(std::string text) const;

  std::string script_path_;
  engine::ScriptCaps caps_;
  const Bindings& bindings_;
  std::uint64_t instructions_ = 0;
  ScriptMemory memory_;
  std::string refused_at_;   ///< where the script last asked for more memory than there is
  std::string reached_cap_;  ///< says where and which; empty: none was reached
  std::string traceback_;    ///< one frame per line; empty after an OutOfMemory
  std::exception_ptr failure_;
  std::set<std::string, std::less<>> files_;
  std::string_view last_file_;
  std::vector<DeadHandle> unreachable_;  ///< the youngest first
  std::vector<DeadHandle> being_released_;
  EndedCall ended_call_;
  bool is_noted_ = false;  ///< that the function which returns is a native of ours
  std::vector<const void*> ended_variables_;       ///< of functions that have returned
  std::vector<const void*> variables_of_callers_;  ///< of those that called them
  struct HeldByError {
    std::vector<const void*> handles;
    std::shared_ptr<const void> outer;
  };
  std::unordered_map<const void*, HeldByError> held_by_errors_;
  std::vector<const HandleClass*> handle_classes_;
  std::unordered_map<const HandleClass*, EndHandle> ends_;
  std::uint64_t handles_made_ = 0;
  std::uint64_t collections_ = 0;
  std::size_t ended_before_their_time_ = 0;
  Lifetimes lifetimes_;
  bool has_dropped_references_ = false;
  bool has_dying_objects_ = false;
  bool has_closed_objects_ = false;
  std::shared_ptr<Interpreter* const> self_;
  std::unique_ptr<lua_State, Closer> state_;  ///< closed first: its finalizers defer releases
};

}  // namespace ohm::lua
