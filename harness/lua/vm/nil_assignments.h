// Nil assignments: statements `x = nil` of a script's text.
#pragma once

#include <string>
#include <string_view>

namespace ohm::lua {

/// The text with a label behind each statement that ends with `= nil`, in its line: `x = nil
/// ::_::`. Lua's compiler makes one instruction of `a = nil; c = nil; b = nil`, which does not say
/// in which order a script let go of what they held; of statements with a label between them it
/// does not. A text that is no Lua has labels anywhere.
std::string with_separate_nils(std::string_view text);

}  // namespace ohm::lua
