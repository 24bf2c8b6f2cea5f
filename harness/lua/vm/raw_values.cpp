#include "harness/lua/vm/raw_values.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

namespace ohm::lua {
namespace raw {
namespace {

// What every object that Lua collects begins with.
struct ObjectHeader {
  void* next;
  std::uint8_t type;
  std::uint8_t mark;
};

struct FrameLayout {
  RawValue* function;
  RawValue* top;
  FrameLayout* previous;
  FrameLayout* next;
  const std::uint32_t* next_instruction;
};

struct StateLayout {
  ObjectHeader header;  // and three small members in its tail
  RawValue* top;
  void* global;
  FrameLayout* frame;
  RawValue* stack_last;
  RawValue* stack;
};
static_assert(sizeof(ObjectHeader) == 16 && offsetof(StateLayout, stack) == 48);

struct GlobalLayout {
  lua_Alloc allocate;
  void* memory;
  std::size_t counts[4];
  struct {
    void* hashes;
    int sizes[2];
  } strings;
  RawValue registry;
  RawValue nil;
  unsigned int seed;
};
static_assert(offsetof(GlobalLayout, seed) == 96);

struct StringLayout {
  void* next;
  std::uint8_t type;
  std::uint8_t mark;
  std::uint8_t extra;
  std::uint8_t length;
  unsigned int hash;
};
static_assert(offsetof(StringLayout, hash) == 12);

constexpr unsigned int kSeed = 20240606;

// Lua's stack has a few values more than it tells.
constexpr int kExtraValues = 5;

struct PrototypeLayout {
  ObjectHeader header;
  int sizes[9];
  const RawValue* constants;
  const std::uint32_t* code;
};
static_assert(offsetof(PrototypeLayout, constants) == 56);

struct FunctionLayout {
  ObjectHeader header;
  void* gray;
  const PrototypeLayout* prototype;
};  // and the addresses of its variables
static_assert(sizeof(FunctionLayout) == 32);

struct VariableLayout {
  ObjectHeader header;
  const RawValue* value;
  RawValue own;
};

StateLayout& layout_of(lua_State* L) { return *reinterpret_cast<StateLayout*>(L); }

const FrameLayout& layout_of(const lua_Debug& frame) {
  return *reinterpret_cast<const FrameLayout*>(frame.i_ci);
}

const VariableLayout& variable_at(RawValue variable) {
  return *static_cast<const VariableLayout*>(variable.content);
}

/// The first block is the state's; the seed is drawn before the second one is asked for, and used
/// for what comes after that.
struct Opening {
  lua_Alloc allocate;
  void* memory;
  std::byte* first = nullptr;
  bool is_seeded = false;

  static void* reallocate(void* self, void* block, std::size_t old_bytes, std::size_t new_bytes) {
    auto& opening = *static_cast<Opening*>(self);
    if (opening.first != nullptr && !std::exchange(opening.is_seeded, true)) {
      auto* const L = reinterpret_cast<lua_State*>(opening.first + LUA_EXTRASPACE);
      static_cast<GlobalLayout*>(layout_of(L).global)->seed = kSeed;
    }
    void* const made = opening.allocate(opening.memory, block, old_bytes, new_bytes);
    if (opening.first == nullptr) opening.first = static_cast<std::byte*>(made);
    return made;
  }
};

// What Lua makes of a short string.
unsigned int hash_of(std::string_view text) {
  unsigned int hash = kSeed ^ static_cast<unsigned int>(text.size());
  for (std::size_t i = text.size(); i > 0; --i) {
    hash ^= (hash << 5U) + (hash >> 2U) + static_cast<unsigned char>(text[i - 1]);
  }
  return hash;
}

bool has_own_seed(lua_State* L) {
  constexpr std::string_view kText = "seeded";
  lua_pushlstring(L, kText.data(), kText.size());
  const auto* const text = static_cast<const StringLayout*>(value_at(L, -1).content);
  const bool is_as_expected = text->length == kText.size() && text->hash == hash_of(kText);
  lua_pop(L, 1);
  return is_as_expected;
}

// The bytes behind a tag are anything.
RawValue cleaned(const RawValue& value) { return {value.content, value.tag}; }

}  // namespace

lua_State* new_state(lua_Alloc allocate, void* memory) {
  Opening opening{allocate, memory};
  lua_State* const L = lua_newstate(&Opening::reallocate, &opening);
  if (L != nullptr) lua_setallocf(L, allocate, memory);
  return L;
}

std::span<RawValue> stack_of(lua_State* L) {
  const StateLayout& state = layout_of(L);
  return {state.stack, state.top};
}

std::span<RawValue> above_stack_of(lua_State* L) {
  const StateLayout& state = layout_of(L);
  return {state.top, state.stack_last + kExtraValues};
}

void clear_above_stack(lua_State* L) {
  for (RawValue& value : above_stack_of(L)) value.tag = LUA_TNIL;
}

RawValue value_at(lua_State* L, int index) {
  const StateLayout& state = layout_of(L);
  return cleaned(index > 0 ? state.frame->function[index] : state.top[index]);
}

void push(lua_State* L, RawValue value) {
  lua_pushnil(L);
  RawValue& slot = layout_of(L).top[-1];
  slot.content = value.content;
  slot.tag = value.tag;
}

RawValue integer_value(lua_Integer value) {
  RawValue made{nullptr, LUA_TNUMBER};
  static_assert(sizeof value == sizeof made.content);
  std::memcpy(&made.content, &value, sizeof value);
  return made;
}

bool has_user_values(lua_State* L, RawValue userdata) {
  push(L, userdata);
  const bool has_some = lua_getiuservalue(L, -1, 1) != LUA_TNONE;
  lua_pop(L, 2);
  return has_some;
}

RawValue function_of(const lua_Debug& frame) { return cleaned(*layout_of(frame).function); }

RawValue register_of(const lua_Debug& frame, int number) {
  return cleaned(layout_of(frame).function[1 + number]);
}

RawValue constant_of(RawValue function, int number) {
  return cleaned(
      static_cast<const FunctionLayout*>(function.content)->prototype->constants[number]);
}

RawValue variable_of(RawValue function, int number) {
  const auto* const layout = static_cast<const FunctionLayout*>(function.content);
  return {reinterpret_cast<const void* const*>(layout + 1)[number], kVariable};
}

const std::uint32_t* next_instruction_of(const lua_Debug& frame) {
  return layout_of(frame).next_instruction;
}

bool is_closed(RawValue variable) {
  return variable_at(variable).value == &variable_at(variable).own;
}

RawValue value_of(RawValue variable) { return cleaned(*variable_at(variable).value); }

const RawValue* place_of(RawValue variable) { return variable_at(variable).value; }

Untouched::Untouched(lua_State* L) : state_(L), top_(lua_gettop(L)) {
  luaL_checkstack(L, kValues, nullptr);
  const auto above = above_stack_of(L);
  std::copy_n(above.begin(), kValues, std::begin(before_));
}

Untouched::~Untouched() {
  lua_settop(state_, top_);
  std::copy_n(std::begin(before_), kValues, above_stack_of(state_).begin());
}

}  // namespace raw

namespace {

constexpr std::string_view kLayoutProbe =
    "local probe, t = ...\n"
    "local shared = t\n"
    "local function f() return shared end\n"
    "do local own = t; t.closed = function() return own end end\n"
    "local is_as_expected = probe(t, f, t.closed, 'constant')\n"
    "return is_as_expected";

RawValue variable_of(lua_State* L, int function) {
  return {lua_upvalueid(L, function, 1), raw::kVariable};
}

// probe(table, function with an open variable, function with a closed one, string)
int probe_values(lua_State* L) {
  lua_Debug caller;
  lua_getstack(L, 1, &caller);
  const RawValue table = raw::value_at(L, 1);
  const RawValue open = variable_of(L, 2);
  const RawValue closed = variable_of(L, 3);
  const auto stack = raw::stack_of(L);
  bool is_as_expected =
      table == RawValue{lua_topointer(L, 1), raw::kTable} &&
      raw::value_at(L, 2).tag == raw::kLuaFunction &&
      raw::value_at(L, 4).tag == raw::kShortString && raw::value_at(L, -4) == table &&
      stack[stack.size() - 4].content == table.content &&
      raw::above_stack_of(L).size() >= LUA_MINSTACK && raw::register_of(caller, 1) == table &&
      raw::function_of(caller).tag == raw::kLuaFunction && !raw::is_closed(open) &&
      raw::is_closed(closed) && raw::variable_of(raw::value_at(L, 3), 0) == closed &&
      raw::value_of(open) == table && raw::value_of(closed) == table;
  // The first constant of the function is the name of the field that it sets.
  if (is_as_expected) {
    raw::push(L, raw::constant_of(raw::function_of(caller), 0));
    is_as_expected =
        lua_type(L, -1) == LUA_TSTRING && lua_tostring(L, -1) == std::string_view("closed");
  }
  lua_newuserdatauv(L, 1, 0);
  lua_pushcclosure(L, &probe_values, 1);
  is_as_expected = is_as_expected && raw::value_at(L, -1).tag == raw::kNativeFunction &&
                   static_cast<const RawValue*>(lua_upvalueid(L, -1, 1))->tag == raw::kUserdata;
  lua_pushboolean(L, is_as_expected);
  return 1;
}

}  // namespace

void check_raw_layout(lua_State* L) {
  const int top = lua_gettop(L);
  luaL_loadbufferx(L, kLayoutProbe.data(), kLayoutProbe.size(), "=(probe)", "t");
  lua_pushcfunction(L, &probe_values);
  lua_newtable(L);
  lua_call(L, 2, 1);
  const bool is_as_expected = lua_toboolean(L, -1) != 0 && raw::has_own_seed(L);
  lua_settop(L, top);
  if (!is_as_expected) luaL_error(L, "this Lua lays out its values differently from 5.4.4");
}

}  // namespace ohm::lua
