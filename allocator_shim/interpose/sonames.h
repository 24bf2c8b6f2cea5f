// The names under which programs find NVIDIA's libraries, each of which a stand-in takes.
#pragma once

#include <array>
#include <string_view>

namespace ohm::interpose {

#define OHM_SONAME(library, soname, ...) std::string_view(#soname),
#define OHM_LIMIT(...)
#define OHM_WRITTEN(...)
#define OHM_STUB(...)
inline constexpr std::array kSonames = {
#include "allocator_shim/interpose/entry_points.def"
};
#undef OHM_STUB
#undef OHM_WRITTEN
#undef OHM_LIMIT
#undef OHM_SONAME

}  // namespace ohm::interpose
