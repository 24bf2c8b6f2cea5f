// The driver's entry points by name: those of the table.
#include "allocator_shim/interpose/driver_table.h"

#define OHM_SONAME(...)
#define OHM_LIMIT(...)
#define OHM_WRITTEN(library, name, ...) extern "C" void name();
#define OHM_STUB OHM_WRITTEN
#include "allocator_shim/interpose/entry_points.def"
#undef OHM_STUB
#undef OHM_WRITTEN

namespace ohm::interpose {
namespace {

struct EntryPoint {
  std::string_view library;
  std::string_view name;
  Function function;
};

#define OHM_WRITTEN(library, name, ...) EntryPoint{#library, #name, &name},
#define OHM_STUB OHM_WRITTEN
constexpr EntryPoint kEntryPoints[] = {
#include "allocator_shim/interpose/entry_points.def"
};

}  // namespace

Function find_in_driver(std::string_view name) {
  for (const EntryPoint& row : kEntryPoints) {
    if (row.library == "cuda" && row.name == name) return row.function;
  }
  return nullptr;
}

}  // namespace ohm::interpose
