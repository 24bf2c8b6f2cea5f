// What a variant computed, copied to the host: what is compared.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ohm::engine {

/// One value that a variant returned, copied to the host.
struct ReturnedValue {
  /// A tensor's dtype in PyTorch's spelling ("float32", "int64", "bool", …); for the script's own
  /// values "integer", "number", "boolean" or "string". Integers compare exactly, a "number" (what
  /// item() gave, say) within the tolerance of what it is compared with.
  std::string dtype;
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  /// Row-major; a boolean is 0 or 1. Integers are exact up to 2^53. Empty when the tensor lives
  /// on a size-only device, and for strings.
  std::vector<double> values;
  bool has_values = true;  ///< false: computed on a size-only device; the engine sees to "number"
  std::string text;        ///< of a string
};

/// What a variant returned, by name, in byte order of the names.
using ReturnedValues = std::vector<std::pair<std::string, ReturnedValue>>;

}  // namespace ohm::engine
