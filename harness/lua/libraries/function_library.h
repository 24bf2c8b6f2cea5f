// ohm.autograd.Function: functions whose backward a script writes itself.
//
//   local Exp = ohm.autograd.Function {
//     forward = function(ctx, x) local y = x:exp() ctx:save_for_backward(y) return y end,
//     backward = function(ctx, grad) return grad * ctx.saved_tensors[1] end,
//   }
//   Exp.apply(x)
//
// With `setup_context(ctx, inputs, outputs…)` forward has no `ctx`. `ctx` keeps what a script puts
// into it for as long as the graph does.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> function_functions();

}  // namespace ohm::lua
