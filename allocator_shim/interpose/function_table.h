// The entry points of entry_points.def by name.
#pragma once

#include <string_view>

namespace ohm::interpose {

using Function = void (*)();

/// nullptr: the table has no such row of this library (`cuda` is the driver).
Function find_in_library(std::string_view library, std::string_view name);

/// The same of the driver's for programs that ask it: nullptr, too, for the class Absent of stub.h.
Function find_in_driver(std::string_view name);

}  // namespace ohm::interpose
