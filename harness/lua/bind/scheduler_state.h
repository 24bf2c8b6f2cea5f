// States of learning rate schedulers as Lua tables: {last_epoch = 3, base_lrs = {0.1}, …}; those of
// schedulers that one puts together are a list, `_schedulers`.
#pragma once

#include <lua.hpp>

#include "runtime/optim/scheduler_state.h"

namespace ohm::lua {

/// Pushes the table; returns 1.
int push_scheduler_state(lua_State* L, const optim::SchedulerState& state);

/// The argument of load_state_dict() at `index`. Throws std::invalid_argument for anything else
/// than such a table.
optim::SchedulerState scheduler_state_argument(lua_State* L, int index);

}  // namespace ohm::lua
