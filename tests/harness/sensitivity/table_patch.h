// Changes of the table that a scenario's file gives to ohm.scenario.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/vocabulary.h"

namespace ohm::test {

/// The source, with Lua statements run on the table, `t`, before ohm.scenario has it. Throws
/// std::runtime_error for a file that does not end in `return ohm.scenario {...}`.
std::string with_patched_table(std::string_view source, const std::string& statements);

/// "t.problems", of the variants of a role.
std::string variants_in_table(Role role);

}  // namespace ohm::test
