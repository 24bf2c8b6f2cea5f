// Kernels that compute line by line: a block takes a line and then the next, or each of its threads
// takes one.
#pragma once

#include "runtime/ops/kernels/elements.cuh"
#include "runtime/tensor/card_lines.h"

namespace ohm::ops::kernels {

using Count = unsigned long long;

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffffU;

struct Elements {
  template <class Compute>
  static __device__ Compute load(const LineOperand& operand, Integer offset) {
    return with_element(operand.address, operand.dtype, offset,
                        [](auto stored) { return converted<Compute>(stored); });
  }
  template <class Value>
  static __device__ void store(const LineOperand& operand, Integer offset, Value value) {
    store_element(operand.address, operand.dtype, offset, value);
  }
};

struct ThreadTeam : Elements {
  template <class Visit>
  __device__ void each(Integer size, const Visit& visit) const {
    for (Integer i = 0; i < size; ++i) visit(i);
  }
  template <class Visit>
  __device__ void once(const Visit& visit) const {
    visit();
  }
  template <class Of>
  __device__ auto sum(Integer size, const Of& of) const {
    decltype(of(0)) sum = 0;
    for (Integer i = 0; i < size; ++i) sum += of(i);
    return sum;
  }
  template <class Of>
  __device__ auto largest(Integer size, const Of& of) const {
    decltype(of(0)) largest = -INFINITY;
    for (Integer i = 0; i < size; ++i) largest = max(largest, of(i));
    return largest;
  }
};

/// Its size is a multiple of a warp's.
struct BlockTeam : Elements {
  double* scratch;  ///< shared, one for each warp

  template <class Visit>
  __device__ void each(Integer size, const Visit& visit) const {
    for (Integer i = threadIdx.x; i < size; i += blockDim.x) visit(i);
  }
  template <class Visit>
  __device__ void once(const Visit& visit) const {
    if (threadIdx.x == 0) visit();
  }
  template <class Of>
  __device__ auto sum(Integer size, const Of& of) const {
    using Sum = decltype(of(0));
    return combined<Sum>(size, of, Sum(0), [](Sum a, Sum b) { return a + b; });
  }
  template <class Of>
  __device__ auto largest(Integer size, const Of& of) const {
    using Value = decltype(of(0));
    return combined<Value>(size, of, Value(-INFINITY), [](Value a, Value b) { return max(a, b); });
  }

 private:
  /// The same for every thread, and in every run: who adds what does not depend on the time.
  template <class Value, class Of, class Combine>
  __device__ Value combined(Integer size, const Of& of, Value start, const Combine& combine) const {
    static_assert(sizeof(Value) <= sizeof(double));
    Value found = start;
    for (Integer i = threadIdx.x; i < size; i += blockDim.x) found = combine(found, of(i));
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
      found = combine(found, __shfl_xor_sync(kWholeWarp, found, distance));
    }
    auto* const of_warps = reinterpret_cast<Value*>(scratch);
    __syncthreads();  // the result of the call before was read
    if (threadIdx.x % kWarpSize == 0) of_warps[threadIdx.x / kWarpSize] = found;
    __syncthreads();
    Value all = start;
    for (unsigned warp = 0; warp < blockDim.x / kWarpSize; ++warp) {
      all = combine(all, of_warps[warp]);
    }
    return all;
  }
};

template <class Compute, class Formula>
__device__ void run_lines(const CardLines& lines, const Formula& formula) {
  if (lines.are_threads) {
    const Count threads = Count{gridDim.x} * blockDim.x;
    const ThreadTeam team;
    for (Count line = Count{blockIdx.x} * blockDim.x + threadIdx.x; line < lines.count;
         line += threads) {
      formula.template run<Compute>(team, lines, line);
    }
    return;
  }
  __shared__ double scratch[kWarpSize];
  BlockTeam team;
  team.scratch = scratch;
  for (Count line = blockIdx.x; line < lines.count; line += gridDim.x) {
    formula.template run<Compute>(team, lines, line);
  }
}

}  // namespace ohm::ops::kernels

/// "ohm_NAME_TYPE"(lines, formula)
#define OHM_KERNEL(name, Formula, type, Compute)                                               \
  extern "C" __global__ void ohm_##name##_##type(const __grid_constant__ ohm::CardLines lines, \
                                                 const ohm::formulas::Formula formula) {       \
    ohm::ops::kernels::run_lines<Compute>(lines, formula);                                     \
  }
