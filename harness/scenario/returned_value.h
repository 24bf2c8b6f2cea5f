// The values that a variant returns, copied to the host: they are compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ohm::engine {

/// The types of a script's own values, beside the dtypes of tensors.
enum class ScriptType : std::uint8_t { string, boolean, integer, number };

inline constexpr std::array<std::string_view, 4> kScriptTypeNames = {"string", "boolean", "integer",
                                                                     "number"};

constexpr std::string_view name_of(ScriptType type) {
  return kScriptTypeNames[static_cast<std::size_t>(type)];
}

/// One value that a variant returned, copied to the host.
struct ReturnedValue {
  /// A tensor's dtype in PyTorch's spelling ("float32", "int64", "bool", …), or the name of a
  /// ScriptType. Integers compare exactly, a "number" (what
  /// item() gave, say) within the tolerance of what it is compared with.
  std::string dtype;
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  /// Row-major; a boolean is 0 or 1. Empty when the tensor lives on a size-only device, and for
  /// strings.
  std::vector<double> values;
  /// The same elements where `values` rounds one of them: integers beyond 2^53. Otherwise empty.
  std::vector<std::int64_t> integers;
  bool has_values =
      true;  ///< false: computed on a size-only device; of a "number", run_variant() finds out
  std::string text;  ///< of a string
};

/// What a variant returned, by name, in byte order of the names.
using ReturnedValues = std::vector<std::pair<std::string, ReturnedValue>>;

}  // namespace ohm::engine
