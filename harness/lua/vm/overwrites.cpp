#include "harness/lua/vm/overwrites.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/lua/vm/pending_stores.h"
#include "harness/lua/vm/raw_values.h"
#include "harness/lua/vm/script_frame.h"
#include "runtime/base/inline_vector.h"

namespace ohm::lua {
namespace {

constexpr std::size_t kMostInstructions = 32;
constexpr std::size_t kMostHandles = 256;

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
        operator_result_(result_register(ahead_)),
        stores_(L) {}

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
        overwrite(variable_before(at, it.b()), {at, it.a()});
        return true;
      case kSetGlobal:
        return store(at, variable_before(at, it.a()), raw::constant_of(function_, it.b()));
      case kSetTable:
      case kSetInteger:
      case kSetField:
        return look_at_element(at);
      case kCallFunction:
        look_at_arguments(it, at);
        return false;
      case kSetList:
        look_at_list(it, at);
        return true;
      case kSelf:
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

  // A new table has none before.
  bool look_at_element(int at) {
    const Instruction it = instruction(at);
    const int writer = writer_before(at, it.a());
    if (writer >= 0 && instruction(writer).opcode() == kNewTable) return true;
    return store(at, value_before(at, it.a()), stored_key(at));
  }

  // A store to anything but a table calls a native.
  bool store(int at, std::optional<RawValue> table, std::optional<RawValue> key) {
    if (!table || table->tag != raw::kTable) return false;
    if (!key || key->is_nil()) return true;
    const RawValue old = stores_.add(*table, *key, stored_value(at));
    overwrite(old, {at, stored_register(instruction(at))});
    return true;
  }

  // A function of the script lets go of a result that is its argument alone where it says so,
  // which may be before it calls anything.
  void look_at_arguments(Instruction call, int at) {
    // All results of `f(g(x))` are arguments.
    const int end =
        call.b() != 0 ? call.a() + call.b() : call_.a() + static_cast<int>(results_.size());
    for (int number = call.a() + 1; number < end; ++number) {
      if (writer_before(at, number) < 0 && is_result(number)) {
        overwrite(result_in(number), {at, std::nullopt});
      }
    }
  }

  // The end of `{x, y}`, a new table.
  void look_at_list(Instruction it, int at) {
    const std::optional<RawValue> table = value_before(at, it.a());
    if (!table || table->tag != raw::kTable || it.k()) return;
    for (int i = 1; i <= it.b(); ++i) {
      stores_.add(*table, raw::integer_value(it.c() + i), value_before(at, it.a() + i));
    }
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

  // Constants are no handles.
  std::optional<RawValue> stored_value(int at) {
    const std::optional<int> number = stored_register(instruction(at));
    return number ? value_before(at, *number) : std::nullopt;
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

  // That the function shares with others.
  std::optional<RawValue> variable_before(int at, int number) {
    int writer = at - 1;
    const auto is_it = [&](Instruction it) {
      return it.opcode() == kSetUpvalue && it.b() == number;
    };
    while (writer >= 0 && !is_it(instruction(writer))) --writer;
    if (writer >= 0) return value_before(writer, instruction(writer).a());
    return raw::value_of(raw::variable_of(function_, number));
  }

  std::optional<RawValue> value_written(int at) {
    const Instruction it = instruction(at);
    switch (it.opcode()) {
      case kMove:
        return value_before(at, it.b());
      case kGetUpvalue:
        return variable_before(at, it.b());
      case kGetGlobal:
        return element(variable_before(at, it.b()), raw::constant_of(function_, it.c()));
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
    return stores_.element(*table, *key);
  }

  // Above its variables a function has a call's registers, and those alone.
  bool is_variable(int number) const {
    if (call_.opcode() == kCallFunction && number >= call_.a()) return false;
    return use_of(state_, frame_, number + 1) == RegisterUse::variable;
  }

  // Registers that are no variables hold what is dead, or in use elsewhere.
  void overwrite_register(int number, Source source) {
    if (!is_variable(number)) return;
    overwrite(
        source.at == kBefore ? raw::register_of(frame_, number) : value_before(source.at, number),
        source);
  }

  void overwrite(const std::optional<RawValue>& old, Source source) {
    if (source.at > last_at_ + 1) first_of_run_ = overwritten_.size();
    last_at_ = source.at;
    if (!holds_handles(old) || overwritten_.size() >= kMostHandles) return;
    const bool is_by_element = after_elements_ == nullptr && is_element_of_result(source);
    if (source.value && is_variable(*source.value)) source.value.reset();
    Place place = place_of(source);
    for (const void* handle : stores_.handles_in(*old)) {
      if (is_by_element && after_elements_ == nullptr) after_elements_ = handle;
      place = overwritten_.insert(place, {handle, source.at, source.value}) + 1;
    }
  }

  // `a, b = x, y` stores b first, and what a gets lies in a register meanwhile, below those of the
  // values that come after it.
  Place place_of(Source source) {
    if (!source.value) return overwritten_.end();
    // That of an operator's result, which may be the last value itself, is no instruction behind.
    const int writer = writer_before(source.at, *source.value);
    const int written = writer >= 0 ? writer : kBefore - 1;
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

  lua_State* state_;
  const lua_Debug& frame_;
  RawValue function_;
  std::span<const RawValue> results_;
  const Instruction* ahead_;            ///< the next one to look at
  Instruction call_;                    ///< what is about to end
  InlineVector<Instruction, 32> path_;  ///< what was looked at
  std::optional<int> operator_result_;
  PendingStores stores_;
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
