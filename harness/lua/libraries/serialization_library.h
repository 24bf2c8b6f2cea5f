// ohm.save and ohm.load: files that a script writes and reads again.
//
// Nothing is written to a disk: a file is known to the run that saved it, by its name. Tensors are
// loaded in the order in which the script got them, as a dict of Python's has its entries.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> serialization_functions();

}  // namespace ohm::lua
