#include "harness/lua/bind/mode.h"

#include <memory>
#include <new>
#include <utility>

#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/mode_stack.h"
#include "runtime/base/thread_end.h"

namespace ohm::lua {

using ModePtr = ModeStack::ModePtr;

template <>
struct HandleOf<ModePtr> {
  static const HandleClass kClass;
};

namespace {

// Of this thread: ranks have modes of their own. Null until the first is opened.
thread_local ModeStack* modes_of_thread = nullptr;

/// Throws std::bad_alloc.
ModePtr open(std::shared_ptr<const void> guard) {
  static const ThreadEnd kEnd([](void* modes) { delete static_cast<ModeStack*>(modes); });
  if (modes_of_thread == nullptr) {
    auto modes = std::make_unique<ModeStack>();
    if (!kEnd.note(modes.get())) throw std::bad_alloc();
    modes_of_thread = modes.release();
  }
  return modes_of_thread->open(std::move(guard));
}

void close(ModeStack::Mode& mode) {
  if (modes_of_thread != nullptr) modes_of_thread->close(mode);
}

// Ends at once, not with the next collection: the modes end in the order in which they close.
int close_mode(lua_State* L) {
  ModePtr& mode = static_cast<Handle<ModePtr>*>(lua_touserdata(L, 1))->value;
  if (mode) close(*mode);
  mode.reset();
  return 0;
}

constexpr luaL_Reg kModeMetamethods[] = {{"__close", close_mode}, {"__gc", close_mode}};

/// A mode for the time of a function call.
class ModeScope {
 public:
  explicit ModeScope(std::shared_ptr<const void> guard) : mode_(open(std::move(guard))) {}
  ~ModeScope() { close(*mode_); }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  ModePtr mode_;
};

}  // namespace

int enter_mode(lua_State* L, int index, const ArgumentName& name,
               std::shared_ptr<const void> guard) {
  if (lua_isnone(L, index)) {
    push_handle<ModePtr>(L, open(std::move(guard)));
    return 1;
  }
  if (lua_type(L, index) != LUA_TFUNCTION) refuse_argument(L, index, name, "a function");
  const ModeScope scope(std::move(guard));
  lua_call(L, lua_gettop(L) - index, LUA_MULTRET);
  return lua_gettop(L) - index + 1;
}

const HandleClass HandleOf<ModePtr>::kClass = {"mode", kModeMetamethods};

}  // namespace ohm::lua
