// Why a command failed, as far as what it printed tells.
#pragma once

#include <string>
#include <string_view>

namespace ohm::engine {

/// The last exception of Python's, "ValueError: no rows", without those that Python ignored; where
/// there is none, the last line. Progress bars are no cause. Empty: nothing else was printed.
std::string failure_cause(std::string_view printed);

}  // namespace ohm::engine
