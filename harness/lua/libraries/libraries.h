// Libraries: the list of all of them. What scripts see is made from these rows.
#pragma once

#include <span>

#include "harness/lua/libraries/library.h"

namespace ohm::lua {

/// One whose name is "a.b" is the field "b" of the library "a".
std::span<const Library> libraries();

}  // namespace ohm::lua
