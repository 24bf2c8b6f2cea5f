// Element-wise loops on a CUDA device, made from the functors that the host computes with. Halves
// are computed in float, integers and bools in int64.
#pragma once

#include <utility>

#include "runtime/kernels/cuda/elements.cuh"
#include "runtime/kernels/cuda/elementwise_launch.h"
#include "runtime/kernels/functors/element_run.h"
#include "runtime/kernels/functors/generators.h"

namespace ohm::kernels {

using Count = unsigned long long;

inline __device__ float widened(float x) { return x; }
inline __device__ double widened(double x) { return x; }
inline __device__ float widened(__half x) { return __half2float(x); }
inline __device__ float widened(__nv_bfloat16 x) { return __bfloat162float(x); }

inline __device__ void narrow(float x, float& to) { to = x; }
inline __device__ void narrow(double x, double& to) { to = x; }
inline __device__ void narrow(float x, __half& to) { to = __float2half_rn(x); }
inline __device__ void narrow(float x, __nv_bfloat16& to) { to = __float2bfloat16_rn(x); }

// ---- any dtype: one element at a time -----------------------------------------------------------

/// What an element is in a loop of `dtype`: converted to it, then computed with as Compute.
template <class Compute, class Stored>
__device__ Compute read_as(Stored stored, DType dtype) {
  if constexpr (std::is_same_v<Compute, Integer>) {
    if (dtype == DType::boolean) return stored != Stored(0);
    const Integer integer = converted<Integer>(stored);
    if (dtype == DType::uint8) return static_cast<std::uint8_t>(integer);
    if (dtype == DType::int8) return static_cast<std::int8_t>(integer);
    if (dtype == DType::int16) return static_cast<std::int16_t>(integer);
    return dtype == DType::int32 ? static_cast<std::int32_t>(integer) : integer;
  } else {
    const auto value = static_cast<Compute>(stored);
    if (dtype == DType::float16) return __half2float(__float2half_rn(static_cast<float>(value)));
    if (dtype == DType::bfloat16) {
      return __bfloat162float(__float2bfloat16_rn(static_cast<float>(value)));
    }
    return value;
  }
}

template <class Compute>
__device__ Compute load(const ElementwiseOperand& operand, Integer offset, DType dtype) {
  if (operand.is_number) return converted<Compute>(operand.number);
  return with_element(operand.address, operand.dtype, offset,
                      [dtype](auto stored) { return read_as<Compute>(stored, dtype); });
}

template <class Value>
__device__ void store(const ElementwiseOperand& operand, Integer offset, Value value) {
  store_element(operand.address, operand.dtype, offset, value);
}

/// Offsets of element i; Index is 32 bits wide where the count fits: dividing takes a fraction.
template <class Index, int Operands>
__device__ void find_offsets(const ElementwiseLaunch& loop, Index i,
                             const ElementwiseOperand* const (&operands)[Operands],
                             Integer (&offsets)[Operands]) {
  for (int k = 0; k < Operands; ++k) offsets[k] = 0;
  for (int dim = loop.dims - 1; dim >= 0; --dim) {
    const auto size = static_cast<Index>(loop.sizes[dim]);
    const Index rest = i / size;
    const auto place = static_cast<Integer>(i - rest * size);
    for (int k = 0; k < Operands; ++k) offsets[k] += place * operands[k]->strides[dim];
    i = rest;
  }
}

template <class Compute, class Index, class Functor, std::size_t... K>
__device__ void run_strided(const ElementwiseLaunch& loop, const Functor& functor,
                            std::index_sequence<K...>) {
  const ElementwiseOperand* const operands[] = {&loop.out, &loop.in[K]...};
  const auto first = static_cast<Index>(Count{blockIdx.x} * blockDim.x + threadIdx.x);
  const auto threads = static_cast<Index>(Count{gridDim.x} * blockDim.x);
  const auto count = static_cast<Index>(loop.count);
  for (Index i = first; i < count; i += threads) {
    Integer offsets[sizeof...(K) + 1];
    find_offsets(loop, i, operands, offsets);
    store(loop.out, offsets[0],
          static_cast<Compute>(functor(load<Compute>(loop.in[K], offsets[K + 1], loop.dtype)...)));
  }
}

// ---- one dtype, row-major -----------------------------------------------------------------------

using functors::Pack;

template <class T, class Compute, class Functor, std::size_t... K>
__device__ void run_flat(const ElementwiseLaunch& loop, const Functor& functor,
                         std::index_sequence<K...>) {
  constexpr int kCount = Pack<T>::kCount;
  const bool is_one[] = {
      (loop.in[K].is_number || (loop.dims > 0 && loop.in[K].strides[0] == 0))...};
  const Compute one[] = {(is_one[K] ? load<Compute>(loop.in[K], 0, loop.dtype) : Compute(0))...};
  const Count first = Count{blockIdx.x} * blockDim.x + threadIdx.x;
  const Count threads = Count{gridDim.x} * blockDim.x;
  const Count packs = loop.count / kCount;
  auto* const out = reinterpret_cast<T*>(loop.out.address);
  for (Count i = first; i < packs; i += threads) {
    Pack<T> in[sizeof...(K)];
    ((is_one[K] ? void() : void(in[K] = reinterpret_cast<const Pack<T>*>(loop.in[K].address)[i])),
     ...);
    Pack<T> result;
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      narrow(static_cast<Compute>(functor((is_one[K] ? one[K] : widened(in[K].values[e]))...)),
             result.values[e]);
    }
    reinterpret_cast<Pack<T>*>(out)[i] = result;
  }
  for (Count i = packs * kCount + first; i < loop.count; i += threads) {
    narrow(static_cast<Compute>(
               functor((is_one[K] ? one[K] : widened(at<T>(loop.in[K].address, i)))...)),
           out[i]);
  }
}

// ---- kernels ------------------------------------------------------------------------------------

template <class Compute, int Operands, class Functor>
__device__ void run(const ElementwiseLaunch& loop, const Functor& functor) {
  constexpr auto kOperands = std::make_index_sequence<Operands>();
  if constexpr (std::is_same_v<Compute, float>) {
    if (loop.is_flat) {
      if (loop.dtype == DType::float16) return run_flat<__half, float>(loop, functor, kOperands);
      if (loop.dtype == DType::bfloat16) {
        return run_flat<__nv_bfloat16, float>(loop, functor, kOperands);
      }
      return run_flat<float, float>(loop, functor, kOperands);
    }
  }
  if constexpr (std::is_same_v<Compute, double>) {
    if (loop.is_flat) return run_flat<double, double>(loop, functor, kOperands);
  }
  if (loop.count <= UINT32_MAX / 2) {
    run_strided<Compute, unsigned>(loop, functor, kOperands);
  } else {
    run_strided<Compute, Count>(loop, functor, kOperands);
  }
}

/// Four elements of a row-major result, in one access where they are floats.
template <class Values>
__device__ void store_four(const ElementwiseOperand& out, Integer first, const Values& values) {
  const bool is_aligned = (out.address + first * sizeof(float)) % sizeof(Pack<float>) == 0;
  if (out.dtype == DType::float32 && is_aligned) {
    Pack<float> pack;
#pragma unroll
    for (int e = 0; e < 4; ++e) pack.values[e] = static_cast<float>(values[e]);
    *reinterpret_cast<Pack<float>*>(out.address + first * sizeof(float)) = pack;
    return;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) store(out, first + e, values[e]);
}

template <class Index, class Functor>
__device__ void generate(const ElementwiseLaunch& loop, const Functor& functor) {
  const auto thread = static_cast<Index>(Count{blockIdx.x} * blockDim.x + threadIdx.x);
  const auto threads = static_cast<Index>(Count{gridDim.x} * blockDim.x);
  const auto count = static_cast<Index>(loop.count);
  if constexpr (requires { functor.of_block(std::uint64_t{}); }) {
    if (loop.dims == 0 || (loop.dims == 1 && loop.out.strides[0] == 1)) {
      functors::draw_in_blocks(
          count, thread, threads, functor,
          [&](Index first, const auto& values) { store_four(loop.out, first, values); },
          [&](Index i, auto value) { store(loop.out, i, value); });
      return;
    }
  }
  const ElementwiseOperand* const operands[] = {&loop.out};
  for (Index i = thread; i < count; i += threads) {
    Integer offsets[1];
    find_offsets(loop, i, operands, offsets);
    store(loop.out, offsets[0], functor(std::uint64_t{i}));
  }
}

/// Indices of 32 bits where all fit.
template <class Functor>
__device__ void generate(const ElementwiseLaunch& loop, const Functor& functor) {
  if (loop.count <= UINT32_MAX / 2) {
    generate<unsigned>(loop, functor);
  } else {
    generate<Count>(loop, functor);
  }
}

}  // namespace ohm::kernels

/// "ohm_NAME_TYPE"(loop, functor)
#define OHM_KERNEL(name, Functor, operands, type, Compute)                                         \
  extern "C" __global__ void ohm_##name##_##type(                                                  \
      const __grid_constant__ ohm::ElementwiseLaunch loop, const ohm::functors::Functor functor) { \
    ohm::kernels::run<Compute, operands>(loop, functor);                                           \
  }
#define OHM_FLOATING_KERNELS(name, Functor, operands, ...) \
  OHM_KERNEL(name, Functor, operands, float32, float)      \
  OHM_KERNEL(name, Functor, operands, float64, double)
