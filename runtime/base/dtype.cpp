#include "runtime/base/dtype.h"

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace ohm {
namespace {

struct Alias {
  std::string_view name;
  DType dtype;
};
constexpr std::array<Alias, 10> kAliases = {{{"float", DType::float32},
                                             {"double", DType::float64},
                                             {"half", DType::float16},
                                             {"long", DType::int64},
                                             {"int", DType::int32},
                                             {"short", DType::int16},
                                             {"char", DType::int8},
                                             {"byte", DType::uint8},
                                             {"boolean", DType::boolean},
                                             {"bfloat", DType::bfloat16}}};

}  // namespace

DType parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  }
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return alias.dtype;
  }
  std::string known;
  for (const DTypeInfo& info : kDTypes) known.append(known.empty() ? "" : ", ").append(info.name);
  throw std::invalid_argument(fmt::format("unknown dtype '{}': known are {}", name, known));
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  const bool are_the_two_halves = (a == DType::float16 && b == DType::bfloat16) ||
                                  (a == DType::bfloat16 && b == DType::float16);
  if (are_the_two_halves) return DType::float32;
  const bool are_the_two_bytes =
      (a == DType::uint8 && b == DType::int8) || (a == DType::int8 && b == DType::uint8);
  if (are_the_two_bytes) return DType::int16;
  return a > b ? a : b;
}

}  // namespace ohm
