// The name of the op that the thread runs, for messages and counts of rooms below the context,
// which keeps it.
#pragma once

#include <string_view>

namespace ohm {

/// Empty outside any op, and where no context is installed.
std::string_view running_op();

/// Says where the name is kept from now on, nullptr: nowhere; returns where it was.
const std::string_view* exchange_running_op(const std::string_view* name);

}  // namespace ohm
