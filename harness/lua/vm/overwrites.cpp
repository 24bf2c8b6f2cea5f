#include "harness/lua/vm/overwrites.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/lua/vm/bindings.h"
#include "harness/lua/vm/raw_values.h"
#include "harness/lua/vm/script_frame.h"
#include "runtime/base/inline_vector.h"

namespace ohm::lua {
namespace {

constexpr std::size_t kMostInstructions = 32;
constexpr std::size_t kMostElements = 256;  // of a table, and of what is overwritten
constexpr int kMostNestedTables = 3;

bool holds_handles(const std::optional<RawValue>& value) {
  return value && (value->tag == raw::kUserdata || value->tag == raw::kTable);
}

class Lookahead {
 public:
  Lookahead(lua_State* L, const lua_Debug& frame, std::span<const RawValue> results)
      : state_(L),
        frame_(frame),
        function_(raw::function_of(frame)),
        results_(results),
        ahead_(next_instruction(frame)),
        call_(ahead_[-1]),
        operator_result_(result_register(ahead_)) {}

  Overwrites overwrites() {
    if (!goes_on()) return {};
    if (operator_result_) overwrite_register(*operator_result_, {kBefore, std::nullopt});
    while (step()) {
    }
    Overwrites result{{}, after_elements_};
    for (auto it = overwritten_.begin(); it != overwritten_.end(); ++it) {
      const auto is_it = [it](const Overwritten& later) { return later.handle == it->handle; };
      // It goes when the last place lets go of it.
      const bool is_last_place = std::none_of(it + 1, overwritten_.end(), is_it);
      if (is_last_place && it->handle != after_elements_) result.handles.push_back(it->handle);
    }
    return result;
  }

 private:
  static constexpr int kBefore = -1;  // the place of what was there before

  struct Overwritten {
    const void* handle;
    int at;                    ///< the instruction that lets go of it
    std::optional<int> value;  ///< the register that is no variable and was stored
  };
  using Place = std::vector<Overwritten>::iterator;
  struct Source {
    int at;                    ///< the instruction that stores
    std::optional<int> value;  ///< the register that it stores
  };

  // Behind a comparison comes a jump or not; where a variable is closed by a return, nothing.
  bool goes_on() const {
    switch (call_.opcode()) {
      case kCallFunction:
      case kSetTable:
      case kSetInteger:
      case kSetField:
      case kClose:
        return true;
      default:
        return operator_result_.has_value();
    }
  }

  // False where nothing behind is known to be executed.
  bool step() {
    if (path_.size() >= kMostInstructions) return false;
    const Instruction it = *ahead_++;
    path_.push_back(it);
    if (it.opcode() == kJump) return ahead_ += it.jump(), true;
    if (it.opcode() == kForLoop) return go_round(it);
    return look_at(static_cast<int>(path_.size()) - 1);
  }

  // Of a loop that counts whole numbers, the register behind the first one has how often it is left
  // to go round.
  bool go_round(Instruction loop) {
    const RawValue left = raw::register_of(frame_, loop.a() + 1);
    if (left.tag != raw::integer_value(0).tag) return false;
    if (left != raw::integer_value(0)) ahead_ -= loop.back();
    return true;
  }

  bool look_at(int at) {
    const Instruction it = instruction(at);
    switch (it.opcode()) {
      case kMove:
        overwrite_register(it.a(), {at, it.b()});
        return true;
      case kLoadNil:
        for (int i = 0; i <= it.b(); ++i) overwrite_register(it.a() + i, {at, std::nullopt});
        return true;
      case kSetUpvalue:
        overwrite(raw::value_of(raw::variable_of(function_, it.b())), {at, it.a()});
        return true;
      case kSetGlobal:
        overwrite(element(raw::value_of(raw::variable_of(function_, it.a())),
                          raw::constant_of(function_, it.b())),
                  {at, stored_register(it)});
        return true;
      case kSetTable:
      case kSetInteger:
      case kSetField:
        return look_at_element(at);
      case kSelf:
      case kSetList:
      case kClose:  // the end of a mode collects nothing
      case kToBeClosed:
      case kExtraArgument:
        return true;
      default:
        if (!writes_one_register(it)) return false;
        overwrite_register(it.a(), {at, std::nullopt});
        return true;
    }
  }

  // A new table has none before. That of anything but a table calls a native.
  bool look_at_element(int at) {
    const Instruction it = instruction(at);
    const int writer = writer_before(at, it.a());
    if (writer >= 0 && instruction(writer).opcode() == kNewTable) return true;
    const std::optional<RawValue> table = value_before(at, it.a());
    if (!table || table->tag != raw::kTable) return false;
    overwrite(element(table, stored_key(at)), {at, stored_register(it)});
    return true;
  }

  std::optional<RawValue> stored_key(int at) {
    const Instruction it = instruction(at);
    if (it.opcode() == kSetField) return raw::constant_of(function_, it.b());
    if (it.opcode() == kSetInteger) return raw::integer_value(it.b());
    return value_before(at, it.b());
  }

  static std::optional<int> stored_register(Instruction it) {
    if (it.k()) return std::nullopt;
    return it.c();
  }

  static bool writes_one_register(Instruction it) {
    switch (it.opcode()) {
      case kMove:
      case kLoadInteger:
      case kLoadFloat:
      case kLoadConstant:
      case kLoadFarConstant:
      case kLoadFalse:
      case kLoadTrue:
      case kGetUpvalue:
      case kGetGlobal:
      case kGetTable:
      case kGetInteger:
      case kGetField:
      case kNewTable:
      case kClosure:
        return true;
      default:
        return false;
    }
  }

  static bool writes(Instruction it, int number) {
    if (it.opcode() == kLoadNil) return number >= it.a() && number <= it.a() + it.b();
    if (it.opcode() == kSelf) return number == it.a() || number == it.a() + 1;
    return writes_one_register(it) && number == it.a();
  }

  Instruction instruction(int at) const { return path_[static_cast<std::size_t>(at)]; }

  // The instruction before `at` that wrote to the register.
  int writer_before(int at, int number) const {
    int writer = at - 1;
    while (writer >= 0 && !writes(instruction(writer), number)) --writer;
    return writer;
  }

  bool is_result(int number) const {
    if (operator_result_) return number == *operator_result_;
    return call_.opcode() == kCallFunction && number >= call_.a();
  }

  // Nothing where there is none.
  std::optional<RawValue> result_in(int number) const {
    const auto first = static_cast<std::size_t>(operator_result_ ? number : call_.a());
    const std::size_t place = static_cast<std::size_t>(number) - first;
    if (place >= results_.size()) return std::nullopt;
    return results_[place];
  }

  // Nothing where it is not known.
  std::optional<RawValue> value_before(int at, int number) {
    const int writer = writer_before(at, number);
    if (writer >= 0) return value_written(writer);
    if (is_result(number)) return result_in(number);
    return raw::register_of(frame_, number);
  }

  std::optional<RawValue> value_written(int at) {
    const Instruction it = instruction(at);
    switch (it.opcode()) {
      case kMove:
        return value_before(at, it.b());
      case kGetUpvalue:
        return raw::value_of(raw::variable_of(function_, it.b()));
      case kGetGlobal:
        return element(raw::value_of(raw::variable_of(function_, it.b())),
                       raw::constant_of(function_, it.c()));
      case kGetField:
        return element(value_before(at, it.b()), raw::constant_of(function_, it.c()));
      case kGetInteger:
        return element(value_before(at, it.b()), raw::integer_value(it.c()));
      case kGetTable:
        return element(value_before(at, it.b()), value_before(at, it.c()));
      default:
        return std::nullopt;
    }
  }

  std::optional<RawValue> element(std::optional<RawValue> table, std::optional<RawValue> key) {
    if (!table || !key || table->tag != raw::kTable || key->is_nil()) return std::nullopt;
    const raw::Untouched untouched(state_);
    raw::push(state_, *table);
    raw::push(state_, *key);
    lua_rawget(state_, -2);
    return raw::value_at(state_, -1);
  }

  // Above its variables a function has a call's registers, and those alone.
  bool is_variable(int number) const {
    if (call_.opcode() == kCallFunction && number >= call_.a()) return false;
    return use_of(state_, frame_, number + 1) == RegisterUse::variable;
  }

  // Registers that are no variables hold what is dead, or in use elsewhere.
  void overwrite_register(int number, Source source) {
    if (!is_variable(number)) return;
    const int writer = writer_before(source.at, number);
    overwrite(writer >= 0 ? value_written(writer) : raw::register_of(frame_, number), source);
  }

  void overwrite(const std::optional<RawValue>& old, Source source) {
    if (source.at > last_at_ + 1) first_of_run_ = overwritten_.size();
    last_at_ = source.at;
    if (!holds_handles(old) || overwritten_.size() >= kMostElements) return;
    const bool is_by_element = after_elements_ == nullptr && is_element_of_result(source);
    if (source.value && is_variable(*source.value)) source.value.reset();
    Place place = place_of(source);
    for_each_handle_in(*old, [&](const void* handle) {
      if (is_by_element && after_elements_ == nullptr) after_elements_ = handle;
      place = overwritten_.insert(place, {handle, source.at, source.value}) + 1;
    });
  }

  // `a, b = x, y` stores b first, and what a gets lies in a register meanwhile, below those of the
  // values that come after it.
  Place place_of(Source source) {
    if (!source.value) return overwritten_.end();
    const int written = writer_before(source.at, *source.value);
    const Place run = overwritten_.begin() + static_cast<std::ptrdiff_t>(first_of_run_);
    return std::find_if(run, overwritten_.end(), [&](const Overwritten& one) {
      return one.at > written && (!one.value || *one.value > *source.value);
    });
  }

  bool is_element_of_result(Source source) const {
    if (!source.value) return is_element_of_result(source.at);
    const int writer = writer_before(source.at, *source.value);
    return writer >= 0 && is_element_of_result(writer);
  }

  // A result of which the script reads more is in a variable.
  bool is_element_of_result(int at) const {
    if (at < 0) return false;
    const Instruction it = instruction(at);
    const bool is_only_element = is_get(it) && !reads_element(at + 1, it.b());
    return is_only_element && writer_before(at, it.b()) < 0 && is_result(it.b());
  }

  // Of the instruction at `at`, or the one that comes next.
  bool reads_element(int at, int from) const {
    const bool is_behind = at >= static_cast<int>(path_.size());
    const Instruction it = is_behind ? *ahead_ : instruction(at);
    return is_get(it) && it.b() == from;
  }

  static bool is_get(Instruction it) {
    const std::uint32_t opcode = it.opcode();
    return opcode == kGetTable || opcode == kGetInteger || opcode == kGetField;
  }

  template <class F>
  void for_each_handle_in(RawValue value, F&& visit) {
    const raw::Untouched untouched(state_);
    raw::push(state_, value);
    if (value.tag == raw::kUserdata) return visit(lua_touserdata(state_, -1));
    for_each_handle_in_table(kMostNestedTables, visit);
  }

  // The one on top of the stack. A list lets its elements go from the last to the first.
  template <class F>
  void for_each_handle_in_table(int depth, F&& visit) {
    if (!is_list()) {
      for (const HandleHead* handle : handles_of_dictionary(depth)) visit(handle);
      return;
    }
    const auto length = std::min<lua_Unsigned>(lua_rawlen(state_, -1), kMostElements);
    for (auto i = static_cast<lua_Integer>(length); i > 0; --i) {
      const int type = lua_rawgeti(state_, -1, i);
      if (type == LUA_TUSERDATA) visit(lua_touserdata(state_, -1));
      if (type == LUA_TTABLE && depth > 0) for_each_handle_in_table(depth - 1, visit);
      lua_pop(state_, 1);
    }
  }

  // Whether the table on top of the stack has elements by number alone, without a gap; as far as
  // that is looked at.
  bool is_list() {
    const auto length = static_cast<lua_Integer>(lua_rawlen(state_, -1));
    if (length > static_cast<lua_Integer>(kMostElements)) return true;
    lua_Integer elements = 0;
    for (lua_pushnil(state_); lua_next(state_, -2) != 0; lua_pop(state_, 1)) {
      if (++elements <= length && lua_isinteger(state_, -2) != 0) continue;
      lua_pop(state_, 2);
      return false;
    }
    return true;
  }

  // Of the one on top of the stack and of tables in it, in the order in which they were made: Lua
  // keeps none, and a dictionary of Python's lets them go as they came. Of a very large one none.
  std::vector<const HandleHead*> handles_of_dictionary(int depth) {
    std::vector<const HandleHead*> handles;
    int left = static_cast<int>(kMostElements);
    add_handles_in_table(depth, left, handles);
    if (left < 0) return {};
    std::sort(handles.begin(), handles.end(),
              [](const HandleHead* one, const HandleHead* other) { return one->age < other->age; });
    return handles;
  }

  void add_handles_in_table(int depth, int& left, std::vector<const HandleHead*>& handles) {
    for (lua_pushnil(state_); lua_next(state_, -2) != 0; lua_pop(state_, 1)) {
      if (--left < 0) return lua_pop(state_, 2);
      const int type = lua_type(state_, -1);
      if (type == LUA_TTABLE && depth > 0) add_handles_in_table(depth - 1, left, handles);
      if (type != LUA_TUSERDATA || lua_rawlen(state_, -1) < sizeof(HandleHead)) continue;
      handles.push_back(static_cast<const HandleHead*>(lua_touserdata(state_, -1)));
    }
  }

  lua_State* state_;
  const lua_Debug& frame_;
  RawValue function_;
  std::span<const RawValue> results_;
  const Instruction* ahead_;            ///< the next one to look at
  Instruction call_;                    ///< what is about to end
  InlineVector<Instruction, 32> path_;  ///< what was looked at
  std::optional<int> operator_result_;
  std::vector<Overwritten> overwritten_;  ///< in the order in which Python does it
  std::size_t first_of_run_ = 0;          ///< of stores right behind one another
  int last_at_ = kBefore;
  const void* after_elements_ = nullptr;
};

}  // namespace

Overwrites coming_overwrites(lua_State* L, const lua_Debug& frame,
                             std::span<const RawValue> results) {
  return Lookahead(L, frame, results).overwrites();
}

std::optional<int> wanted_results(const lua_Debug& frame) {
  const Instruction call = next_instruction(frame)[-1];
  if (call.opcode() != kCallFunction || call.c() == 0) return std::nullopt;
  return call.c() - 1;
}

}  // namespace ohm::lua
