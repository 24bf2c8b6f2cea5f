// Dead registers: those of a Lua function that the garbage collector must not see.
#pragma once

#include <lua.hpp>

#include <functional>
#include <optional>

namespace ohm::lua {

/// To be called by a native that a Lua operator (`a + b`, `-a`, `a.b`, `a.b = c`) called: sets the
/// registers of the function with the operator to nil that hold nothing it will ever read again.
/// Does nothing when something else called the native.
///
/// Note [Dead registers]
/// A call `f(x)` puts its frame right above the caller's live registers, so that a collection
/// during the call sees exactly what is alive. An operator's frame comes above *all* registers of
/// the caller, which hold values that will not be read again: operands of an earlier `a + b`,
/// arguments of earlier calls, variables of a closed block. A collection would keep them. But the
/// operator's instruction names the register of its result, and Lua allocates registers as a stack:
/// above it nothing is alive but named variables. An assignment to a field has no result: when it
/// runs, the named variables are all there is.
void clear_dead_registers(lua_State* L);

/// Whether argument `index` of a native that an operator called stands in a named variable of the
/// function with the operator. False when something else called the native.
bool is_variable_operand(lua_State* L, int index);

/// Whether what the running native returns is the value of a variable that its block closes:
/// `local guard <close> = native()`.
bool is_initial_value_to_close(lua_State* L);

/// For a native that is the iterator of a `for … in` statement: the value at `index` becomes the
/// statement's state, with which the native is called for the following steps. False when something
/// else called it.
bool set_loop_state(lua_State* L, int index);

/// Calls visit(handle) for each full userdata in the list at `index`, a table, from the last
/// element to the first: as a list of Python's lets them go. So do lists in it. Of a very long
/// list, for the first ones alone.
void for_each_handle_in_list(lua_State* L, int index,
                             const std::function<void(const void*)>& visit);

/// Calls visit(handle) for each full userdata in the variables of a Lua function and in lists that
/// they hold, in the order of their declarations; for no variable of a native.
void for_each_handle_in_variables(lua_State* L, const lua_Debug& frame,
                                  const std::function<void(const void*)>& visit);

/// Whether call frames of the Lua at hand look as clear_dead_registers() takes them to: the place
/// of a frame's next instruction and the encoding of instructions are not part of Lua's interface,
/// though they are the same in all of 5.4. Raises a Lua error.
void check_frame_layout(lua_State* L);

}  // namespace ohm::lua
