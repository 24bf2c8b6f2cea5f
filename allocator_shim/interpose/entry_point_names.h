// The names of entry_points.def.
#pragma once

#include <array>
#include <string_view>

namespace ohm::interpose {

/// What tells of an error, or has no status to return.
constexpr bool never_fails(std::string_view name) {
  return name.starts_with("__cudaRegister") || name.starts_with("__cudaUnregister") ||
         name.starts_with("__cudaP") || name == "__cudaInitModule" ||
         name.find("LastError") != std::string_view::npos ||
         name.find("GetError") != std::string_view::npos ||
         name.find("StatusString") != std::string_view::npos ||
         name.find("StatusName") != std::string_view::npos || name == "cuInit" ||
         name == "cuGetExportTable" || name.find("GetVersion") != std::string_view::npos ||
         name.find("DriverEntryPoint") != std::string_view::npos ||
         name.find("GetProcAddress") != std::string_view::npos;
}

struct EntryPointName {
  std::string_view library;
  std::string_view name;
  bool is_infallible;
};

#define OHM_SONAME(...)
#define OHM_LIMIT(...)
#define OHM_WRITTEN(library, name, ...) EntryPointName{#library, #name, never_fails(#name)},
#define OHM_STUB OHM_WRITTEN
inline constexpr std::array kEntryPointNames = {
#include "allocator_shim/interpose/entry_points.def"
};
#undef OHM_STUB
#undef OHM_WRITTEN
#undef OHM_LIMIT
#undef OHM_SONAME

}  // namespace ohm::interpose
