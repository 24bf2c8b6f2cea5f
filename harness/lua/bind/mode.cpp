#include "harness/lua/bind/mode.h"

#include <utility>

#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/mode_stack.h"

namespace ohm::lua {

using ModePtr = ModeStack::ModePtr;

template <>
struct HandleOf<ModePtr> {
  static const HandleClass kClass;
};

namespace {

// Of this thread: ranks have modes of their own.
thread_local ModeStack open_modes;

// Ends at once, not with the next collection: the modes end in the order in which they close.
int close_mode(lua_State* L) {
  ModePtr& mode = static_cast<Handle<ModePtr>*>(lua_touserdata(L, 1))->value;
  if (mode) open_modes.close(*mode);
  mode.reset();
  return 0;
}

constexpr luaL_Reg kModeMetamethods[] = {{"__close", close_mode}, {"__gc", close_mode}};

/// A mode for the time of a function call.
class ModeScope {
 public:
  explicit ModeScope(std::shared_ptr<const void> guard)
      : mode_(open_modes.open(std::move(guard))) {}
  ~ModeScope() { open_modes.close(*mode_); }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  ModePtr mode_;
};

}  // namespace

int enter_mode(lua_State* L, int index, const ArgumentName& name,
               std::shared_ptr<const void> guard) {
  if (lua_isnone(L, index)) {
    push_handle<ModePtr>(L, open_modes.open(std::move(guard)));
    return 1;
  }
  if (lua_type(L, index) != LUA_TFUNCTION) refuse_argument(L, index, name, "a function");
  const ModeScope scope(std::move(guard));
  lua_call(L, lua_gettop(L) - index, LUA_MULTRET);
  return lua_gettop(L) - index + 1;
}

const HandleClass HandleOf<ModePtr>::kClass = {"mode", kModeMetamethods};

}  // namespace ohm::lua
