// The driver's entry points by name.
#pragma once

#include <string_view>

namespace ohm::interpose {

using Function = void (*)();

/// nullptr: the table has no such row.
Function find_in_driver(std::string_view name);

}  // namespace ohm::interpose
