// Elements of a device's tensors, whatever they are stored as.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "runtime/base/dtype.h"

namespace ohm::kernels {

using Integer = std::int64_t;

/// As convert_element does it.
template <class To, class From>
__device__ To converted(From value) {
  if constexpr (std::is_same_v<To, Integer> && std::is_floating_point_v<From>) {
    if (!(value >= From(-0x1p63) && value < From(0x1p63))) return INT64_MIN;
  }
  return static_cast<To>(value);
}

template <class Compute, class Stored>
__device__ Compute as_compute(Stored stored) {
  if constexpr (std::is_same_v<Stored, __half>) {
    return __half2float(stored);
  } else if constexpr (std::is_same_v<Stored, __nv_bfloat16>) {
    return __bfloat162float(stored);
  } else {
    return stored;
  }
}
template <class Stored, class Compute>
__device__ Stored narrowed(Compute value) {
  if constexpr (std::is_same_v<Stored, __half>) {
    return __float2half_rn(static_cast<float>(value));
  } else if constexpr (std::is_same_v<Stored, __nv_bfloat16>) {
    return __float2bfloat16_rn(static_cast<float>(value));
  } else {
    return static_cast<Stored>(value);
  }
}

template <class T>
__device__ T at(std::uint64_t address, Integer offset) {
  return reinterpret_cast<const T*>(address)[offset];
}

/// use(value) with the element as a type that arithmetic knows.
template <class Use>
__device__ auto with_element(std::uint64_t address, DType dtype, Integer offset, const Use& use) {
  switch (dtype) {
    case DType::boolean:
    case DType::uint8:
      return use(at<std::uint8_t>(address, offset));
    case DType::int8:
      return use(at<std::int8_t>(address, offset));
    case DType::int16:
      return use(at<std::int16_t>(address, offset));
    case DType::int32:
      return use(at<std::int32_t>(address, offset));
    case DType::int64:
      return use(at<Integer>(address, offset));
    case DType::float16:
      return use(__half2float(at<__half>(address, offset)));
    case DType::bfloat16:
      return use(__bfloat162float(at<__nv_bfloat16>(address, offset)));
    case DType::float32:
      return use(at<float>(address, offset));
    case DType::float64:
      break;
  }
  return use(at<double>(address, offset));
}

template <class Value>
__device__ void store_element(std::uint64_t address, DType dtype, Integer offset, Value value) {
  void* const memory = reinterpret_cast<void*>(address);
  switch (dtype) {
    case DType::boolean:
      static_cast<bool*>(memory)[offset] = value != Value(0);
      return;
    case DType::uint8:
      static_cast<std::uint8_t*>(memory)[offset] =
          static_cast<std::uint8_t>(converted<Integer>(value));
      return;
    case DType::int8:
      static_cast<std::int8_t*>(memory)[offset] =
          static_cast<std::int8_t>(converted<Integer>(value));
      return;
    case DType::int16:
      static_cast<std::int16_t*>(memory)[offset] =
          static_cast<std::int16_t>(converted<Integer>(value));
      return;
    case DType::int32:
      static_cast<std::int32_t*>(memory)[offset] =
          static_cast<std::int32_t>(converted<Integer>(value));
      return;
    case DType::int64:
      static_cast<Integer*>(memory)[offset] = converted<Integer>(value);
      return;
    case DType::float16:
      static_cast<__half*>(memory)[offset] = __float2half_rn(static_cast<float>(value));
      return;
    case DType::bfloat16:
      static_cast<__nv_bfloat16*>(memory)[offset] = __float2bfloat16_rn(static_cast<float>(value));
      return;
    case DType::float32:
      static_cast<float*>(memory)[offset] = static_cast<float>(value);
      return;
    case DType::float64:
      static_cast<double*>(memory)[offset] = static_cast<double>(value);
  }
}

}  // namespace ohm::kernels
