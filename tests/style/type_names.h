// Types have one definition: two structs of one name in one namespace are one type to the linker,
// which then uses the constructor or the destructor of either for both.
#pragma once

#include <filesystem>
#include <vector>

#include "tests/style/source_tree.h"

namespace ohm::style {

/// The definitions of structs, classes, unions and enumerations at namespace scope in
/// allocator_shim, runtime, reports and harness whose full name another file defines, too, by path
/// and line. Unnamed namespaces are left out.
std::vector<Breach> find_types_defined_twice(const std::filesystem::path& root);

}  // namespace ohm::style
