// The files that come with the program: in a build, in a checkout, or as installed.
#pragma once

#include <filesystem>
#include <vector>

namespace ohm::engine {

/// Where such a file or folder may be, the likeliest place first: `installed` is relative to the
/// program's folder, `built` to the top of the build that the program is in.
std::vector<std::filesystem::path> shipped_places(const char* built, const char* installed);

}  // namespace ohm::engine
