// Element types of tensors, with PyTorch's names and promotion rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/base/half.h"

namespace ohm {

/// Ordered as promotion goes within a kind; the order is also the index into kDTypes.
enum class DType : std::uint8_t {
  boolean,
  uint8,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
};

struct DTypeInfo {
  std::string_view name;         ///< "float32"
  std::string_view tensor_type;  ///< as PyTorch's messages say it: "FloatTensor"
  std::size_t item_bytes;
  bool is_floating;
};

inline constexpr std::array<DTypeInfo, 10> kDTypes = {{
    {"bool", "BoolTensor", 1, false},
    {"uint8", "ByteTensor", 1, false},
    {"int8", "CharTensor", 1, false},
    {"int16", "ShortTensor", 2, false},
    {"int32", "IntTensor", 4, false},
    {"int64", "LongTensor", 8, false},
    {"float16", "HalfTensor", 2, true},
    {"bfloat16", "BFloat16Tensor", 2, true},
    {"float32", "FloatTensor", 4, true},
    {"float64", "DoubleTensor", 8, true},
}};

constexpr const DTypeInfo& info_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }
constexpr std::string_view name_of(DType dtype) { return info_of(dtype).name; }
constexpr std::size_t item_bytes(DType dtype) { return info_of(dtype).item_bytes; }
constexpr bool is_floating(DType dtype) { return info_of(dtype).is_floating; }
/// Whether its tensors can have gradients.
constexpr bool is_differentiable(DType dtype) { return is_floating(dtype); }

/// The dtype called `name` ("float32"; PyTorch's aliases "float", "half", "double", "long", "int",
/// "short", "char" too). Throws std::invalid_argument with the known names.
DType parse_dtype(std::string_view name);

/// The dtype that holds values of both: float16 with bfloat16 gives float32, uint8 with int8 gives
/// int16, an integer with a floating type gives the floating type.
DType promote_types(DType a, DType b);

/// Stands for a C++ element type when a kernel is chosen by dtype.
template <class T>
struct TypeTag {
  using type = T;
};

/// Calls `fn(TypeTag<T>{})` with the element type of `dtype`; bool is stored as std::uint8_t.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& fn) {
  switch (dtype) {
    case DType::boolean:
      return fn(TypeTag<bool>{});
    case DType::uint8:
      return fn(TypeTag<std::uint8_t>{});
    case DType::int8:
      return fn(TypeTag<std::int8_t>{});
    case DType::int16:
      return fn(TypeTag<std::int16_t>{});
    case DType::int32:
      return fn(TypeTag<std::int32_t>{});
    case DType::int64:
      return fn(TypeTag<std::int64_t>{});
    case DType::float16:
      return fn(TypeTag<Half>{});
    case DType::bfloat16:
      return fn(TypeTag<BFloat16>{});
    case DType::float32:
      return fn(TypeTag<float>{});
    default:
      return fn(TypeTag<double>{});
  }
}

/// As visit_dtype, for floating dtypes alone. Pre-condition: is_floating(dtype).
template <class F>
decltype(auto) visit_floating(DType dtype, F&& fn) {
  switch (dtype) {
    case DType::float16:
      return fn(TypeTag<Half>{});
    case DType::bfloat16:
      return fn(TypeTag<BFloat16>{});
    case DType::float64:
      return fn(TypeTag<double>{});
    default:
      return fn(TypeTag<float>{});
  }
}

/// The type that arithmetic on stored T is done in.
template <class T>
using ComputeType =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float,
                       std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>>;

/// Conversion between any two stored or computed element types, as PyTorch's casts do it.
template <class To, class From>
To convert_element(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert_element<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Through the widest integer: a float to uint8 conversion out of range would be undefined.
    if (!(value >= From(-0x1p63) && value < From(0x1p63))) return static_cast<To>(INT64_MIN);
    return static_cast<To>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace ohm
