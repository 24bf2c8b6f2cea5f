// Arguments of x:to(…) and module:to(…).
#pragma once

#include <lua.hpp>
#include <optional>
#include <string_view>

#include "harness/lua/bind/arguments.h"
#include "runtime/ops/conversion/convert.h"

namespace ohm::lua {

struct ConversionTarget {
  std::optional<Device> device;
  std::optional<DType> dtype;
  std::optional<MemoryFormat> format = std::nullopt;
  ops::Transfer transfer = ops::Transfer::blocking;
  bool copies = false;  ///< copy = true: a copy even where nothing changes
};

/// Reads them from argument 2 on: devices, dtypes, a tensor to be like; or device, dtype,
/// non_blocking, copy and memory_format by name. Throws std::invalid_argument.
ConversionTarget conversion_arguments(lua_State* L, std::string_view function);

}  // namespace ohm::lua
