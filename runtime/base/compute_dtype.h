// The dtype that elements of another are computed in: ComputeType for a dtype known as the program
// runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/base/dtype.h"

namespace ohm {

/// What elements of `dtype` are computed in: int64, float32 or float64.
constexpr DType compute_dtype(DType dtype) {
  if (!is_floating(dtype)) return DType::int64;
  return dtype == DType::float64 ? DType::float64 : DType::float32;
}

/// Calls fn(TypeTag<T>) for what compute_dtype returns.
template <class F>
decltype(auto) visit_packed(DType compute, F&& fn) {
  if (compute == DType::int64) return fn(TypeTag<std::int64_t>{});
  if (compute == DType::float64) return fn(TypeTag<double>{});
  return fn(TypeTag<float>{});
}

/// The dtype whose elements are stored as T.
template <class T>
constexpr DType dtype_of() {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (visit_dtype(dtype, []<class U>(TypeTag<U>) { return std::is_same_v<U, T>; })) return dtype;
  }
  return DType::float64;
}

}  // namespace ohm
