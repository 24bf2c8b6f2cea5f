// "Did you mean …?": the known name that a mistyped one is closest to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ohm {

/// The known name at the smallest edit distance (insert, delete, replace, swap of neighbours; upper
/// and lower case are alike), the first one of equals; when none is near enough to be meant (more
/// than a third differs), the first one that begins with all of `name` (three letters or more);
/// else empty.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// ` (did you mean "peak_allocated_bytes"?)`, or nothing when no known name is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace ohm
