// Lifetimes: finds the handles that a script has let go, from what it did since the last time.
#pragma once

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/lua/vm/raw_values.h"
#include "harness/lua/vm/reference_counts.h"
#include "harness/lua/vm/watched_stacks.h"

namespace ohm::lua {

struct HandleClass;

/// Of the whole process; for tests to change.
struct LifetimeSettings {
  /// From how large a heap on scripts are watched: below it a collection takes less time.
  std::size_t least_heap_bytes = 96U << 10U;
  bool waits_after_failure = true;
  /// Watching may cost as much as collections of a heap of this size.
  std::size_t least_allowance_bytes = 0;
  /// Collects after each settle() as well, and ends the process where that finds something else.
  bool is_checked = false;
};
LifetimeSettings& lifetime_settings();

/// Note [Lifetimes without a collection]
/// A full collection finds what died, and takes as long as there is to find alive. Where that is
/// much, the script is watched instead: a hook sees each instruction that writes to a table or a
/// variable of a closure, natives tell what they write to values of the script, and stacks are
/// compared with what they were (see Note [Stacks of coroutines]). Lua's collector stands still for
/// the time, so that nothing goes without having been counted (see Note [Counts and witnesses]).
/// What a weak table does not keep alive is no reference, and goes from it when it dies: of all but
/// a few (see Lifetimes::add_entry) that is known without the collector.
/// Whatever cannot be told for sure — cycles, other weak tables, natives that say no more than that
/// they write — is a matter for the collector, as it is where little is alive.
class Lifetimes {
 public:
  /// Whether the script is watched; nothing else below does anything when it is not, but begin().
  bool is_watching() const { return is_watching_; }

  /// Right after a full collection: watches from now on where that is worth it. True where the
  /// hook has to be called for each instruction, of each of coroutines().
  bool begin(lua_State* L);
  std::vector<lua_State*> coroutines() const { return stacks_.coroutines(); }
  void end(lua_State* L);

  /// Full userdata that died since the last call, or since begin(), in no order. Nothing where the
  /// collector has to find them: watching has ended then.
  std::optional<std::vector<RawValue>> settle(lua_State* L);

  /// For the hook: before an instruction of a function of the script. False when watching ended.
  bool on_instruction(lua_State* L, const lua_Debug& frame);

  /// For natives: the full userdata on top of the stack is new.
  void note_new(lua_State* L) {
    if (is_watching_) new_userdata_.push_back(raw::value_at(L, -1));
  }
  /// For natives, before they write to a table that the script, or the registry, may have had
  /// before; indices as Lua's.
  void before_write(lua_State* L, int table, int key);
  void before_append(lua_State* L, int table);
  /// What was told to be written is there.
  void note_written(lua_State* L);
  /// After a write that moved the others: a value came to the table, or went.
  void note_inserted(lua_State* L, RawValue table, RawValue value);
  void note_removed(lua_State* L, RawValue table, RawValue value);
  /// Before the table gets the metatable, or nil.
  void before_metatable(lua_State* L, int table, int metatable);
  /// The value at `index` is held by the registry from now on, or not any more.
  void note_held(lua_State* L, int index);
  void note_let_go(lua_State* L, int index);
  /// Something was written: the collector has to be asked once.
  void note_unknown_write() { is_unsure_ = true; }
  /// While one lives, nothing is watched: a native writes to tables of the script and has functions
  /// of the script called in between.
  class Pause {
   public:
    explicit Pause(Lifetimes& lifetimes) : lifetimes_(lifetimes) { lifetimes_.pause(); }
    ~Pause() { --lifetimes_.pauses_; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Lifetimes& lifetimes_;
  };
  /// While one lives, a native exchanges elements of a table. What else is written to it then may
  /// be overwritten: nothing is watched from there on.
  class Permutation {
   public:
    Permutation(Lifetimes& lifetimes, RawValue table) : lifetimes_(lifetimes), table_(table) {
      lifetimes_.permutations_.push_back(this);
    }
    ~Permutation() {
      if (is_disturbed_) --lifetimes_.pauses_;
      std::erase(lifetimes_.permutations_, this);
    }
    Permutation(const Permutation&) = delete;
    Permutation& operator=(const Permutation&) = delete;

   private:
    friend class Lifetimes;
    Lifetimes& lifetimes_;
    RawValue table_;
    bool is_disturbed_ = false;
  };
  /// For natives, before something runs on a coroutine or is written to its stack.
  void note_change_of(lua_State* coroutine) {
    if (is_watching_) stacks_.note_change(coroutine);
  }
  /// Cycles of handles of this class, which is the only one, stay until somebody asks the
  /// collector.
  void note_kept_in_cycles(const HandleClass& kind) { kept_in_cycles_ = &kind; }
  /// The table on top of the stack keeps nothing alive, and who ends what is in it takes it out.
  /// One table can be such a one.
  void leave_out(lua_State* L) {
    left_out_ = raw::value_at(L, -1).content;
    stacks_.leave_out(left_out_);
  }
  /// Lua is about to collect garbage for want of memory.
  void note_refused_memory() { is_broken_ = is_watching_; }

 private:
  using Node = ReferenceCounts::Node;

  struct PendingWrite {
    Node* node;  ///< null: none is pending
    RawValue key;
    RawValue old;
    bool has_key;  ///< else all elements behind `first` are new, but for those in elements_before_
    lua_Integer first;
  };

  /// What a weak table has of a value that it does not keep alive.
  struct WeakEntry {
    Node* table;
    RawValue key;
  };

  bool count_what_is_there(lua_State* L);
  bool is_kept_in_cycles(lua_State* L, RawValue value) const;
  bool may_go_on(lua_State* L);
  void pause();
  void note_write_to(RawValue table);
  Node& node_of(lua_State* L, RawValue value);
  void expand(lua_State* L, Node& node);
  template <class E, class F>
  void for_each_reference(lua_State* L, RawValue from, E&& visit_entry, F&& visit);
  template <class E, class F>
  void for_each_in_table(lua_State* L, E&& visit_entry, F&& visit);
  /// `table`: that in which `from` is a weak key, and `to` its value.
  void refer(lua_State* L, Node& from, RawValue to, Node* table = nullptr);
  void drop(Node& from, RawValue to, Node* table = nullptr);
  void watch_write(lua_State* L, RawValue table, RawValue key);
  void watch_list(lua_State* L, RawValue table, lua_Integer first);
  void watch_variable(RawValue variable);
  bool leads_elsewhere(lua_State* L);
  static bool is_weak(const Node& table) { return table.has_weak_keys || table.has_weak_values; }
  std::string_view mode_in(lua_State* L, RawValue metatable) const;
  bool has_mode(lua_State* L, RawValue metatable) const { return !mode_in(L, metatable).empty(); }
  void note_weakness(lua_State* L, Node& table) const;
  void add_entry(lua_State* L, Node& table, RawValue key, RawValue value);
  void remove_entry(Node& table, RawValue key, RawValue value);
  void hold_weakly(lua_State* L, Node& table, RawValue key, RawValue held);
  void forget_weak_entry(const Node& table, RawValue key, RawValue held);
  void clear_weak_entries(lua_State* L, const Node& node);
  void clear(lua_State* L, const WeakEntry& entry, const void* dead);
  void suspect_what_is_held_weakly();
  void finish_write(lua_State* L);
  void finish_list(lua_State* L, const PendingWrite& write);
  bool compare_stacks(lua_State* L);
  bool settle_new_userdata(lua_State* L);
  void bury(lua_State* L, Node& node);
  bool is_sure(lua_State* L) const;
  bool is_counted(RawValue value) const {
    return raw::holds_something(value) && value.content != left_out_;
  }

  ReferenceCounts counts_;
  std::vector<Node*> unexpanded_;
  WatchedStacks stacks_{counts_};
  std::vector<RawValue> new_userdata_;
  std::vector<RawValue> dead_;
  PendingWrite pending_{};
  std::vector<std::pair<lua_Integer, RawValue>> elements_before_;
  std::unordered_multimap<const void*, WeakEntry> weak_entries_;  ///< by what is held
  std::vector<const void*> newly_held_;                           ///< weakly, since settle()
  RawValue mode_name_;  ///< the string "__mode", which makes tables weak
  Node* registry_ = nullptr;
  const void* left_out_ = nullptr;
  const HandleClass* kept_in_cycles_ = nullptr;
  std::size_t most_bytes_ = 0;  ///< of the heap, until it is collected again
  std::int64_t allowance_ = 0;  ///< of instructions that may be watched until settle()
  std::int64_t allowance_per_event_ = 0;
  std::size_t settled_ = 0;  ///< times since begin()
  std::size_t wait_ = 0;     ///< collections until the next begin()
  std::size_t next_wait_ = 0;
  std::vector<Permutation*> permutations_;
  int pauses_ = 0;
  bool is_watching_ = false;
  bool is_unsure_ = false;
  bool is_broken_ = false;
  bool is_expanding_ = false;
  bool has_given_up_ = false;
};

}  // namespace ohm::lua
