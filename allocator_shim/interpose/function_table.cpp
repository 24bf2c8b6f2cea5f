#include "allocator_shim/interpose/function_table.h"

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
  std::string_view behaviour;  ///< a class of stub.h; empty: a function of its own
};

#define OHM_WRITTEN(library, name, ...) EntryPoint{#library, #name, &name, ""},
#define OHM_STUB(library, name, cuda, support, ...) \
  EntryPoint{#library, #name, &name, #__VA_ARGS__},
constexpr EntryPoint kEntryPoints[] = {
#include "allocator_shim/interpose/entry_points.def"
};

const EntryPoint* row_of(std::string_view library, std::string_view name) {
  for (const EntryPoint& row : kEntryPoints) {
    if (row.library == library && row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

Function find_in_library(std::string_view library, std::string_view name) {
  const EntryPoint* const row = row_of(library, name);
  return row == nullptr ? nullptr : row->function;
}

Function find_in_driver(std::string_view name) {
  const EntryPoint* const row = row_of("cuda", name);
  return row == nullptr || row->behaviour.starts_with("Absent") ? nullptr : row->function;
}

}  // namespace ohm::interpose
