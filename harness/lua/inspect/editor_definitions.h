// Definitions of `ohm` for the Lua language server, made from the tables that scripts see.
#pragma once

#include <string>

namespace ohm::lua {

/// A file of `---@meta` definitions.
std::string editor_definitions();

}  // namespace ohm::lua
