// Kernels that compute row by row: a block takes a row and then the next, or each of its threads
// takes one.
#pragma once

#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include "runtime/kernels/cuda/elements.cuh"
#include "runtime/kernels/functors/element_run.h"
#include "runtime/kernels/functors/row_launch.h"
#include "runtime/kernels/functors/two_sums.h"

namespace ohm::kernels {

using Count = unsigned long long;

constexpr int kWarpSize = 32;

struct Elements {
  template <class Compute>
  static __device__ Compute load(const RowOperand& operand, Integer offset) {
    return with_element(operand.address, operand.dtype, offset,
                        [](auto stored) { return converted<Compute>(stored); });
  }
  template <class Value>
  static __device__ void store(const RowOperand& operand, Integer offset, Value value) {
    store_element(operand.address, operand.dtype, offset, value);
  }
  template <class Compute>
  static __device__ Compute element(const functors::ElementRun& run, Integer i) {
    return load<Compute>(*run.operand, run.offset(i));
  }
  /// Of an operand of int64: the least of its first element and `value` stays there.
  static __device__ void keep_least(const RowOperand& operand, Integer value) {
    atomicMin(reinterpret_cast<long long*>(operand.address), static_cast<long long>(value));
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
  template <class Value, class Of, class Combine>
  __device__ Value fold(Integer size, Value start, const Of& of, const Combine& combine) const {
    for (Integer i = 0; i < size; ++i) start = combine(start, of(i));
    return start;
  }
  template <class Compute, class Of, class... Runs>
  __device__ auto sum_along(Integer size, const Of& of, const Runs&... runs) const {
    using Sum = decltype(of(element<Compute>(runs, 0)...));
    return added_up<Compute>(size, Sum(0), of, runs...);
  }
  template <class Compute, class Of, class... Runs>
  __device__ functors::TwoSums two_sums_along(Integer size, const Of& of,
                                              const Runs&... runs) const {
    return added_up<Compute>(size, functors::TwoSums(), of, runs...);
  }
  template <class Compute, class Of, class... Runs>
  __device__ auto largest_along(Integer size, const Of& of, const Runs&... runs) const {
    return largest(size, [&](Integer i) { return of(element<Compute>(runs, i)...); });
  }
  template <class Compute, class Of, class... Runs>
  __device__ void store_along(Integer size, const functors::ElementRun& to, const Of& of,
                              const Runs&... runs) const {
    each(size,
         [&](Integer i) { store(*to.operand, to.offset(i), of(element<Compute>(runs, i)...)); });
  }
  template <class Of, class Visit>
  __device__ void scan(Integer size, const Of& of, const Visit& visit) const {
    decltype(of(0)) sum = 0;
    for (Integer i = 0; i < size; ++i) visit(i, sum += of(i));
  }
  template <class Of>
  __device__ auto largest(Integer size, const Of& of) const {
    decltype(of(0)) largest = -INFINITY;
    for (Integer i = 0; i < size; ++i) largest = max(largest, of(i));
    return largest;
  }

 private:
  /// Several elements are on their way at once where they need no conversion.
  template <class Compute, class Sum, class Of, class... Runs>
  static __device__ Sum added_up(Integer size, Sum sum, const Of& of, const Runs&... runs) {
    constexpr DType kDType = std::is_same_v<Compute, float>    ? DType::float32
                             : std::is_same_v<Compute, double> ? DType::float64
                                                               : DType::int64;
    if (((runs.operand->dtype == kDType) && ...)) {
#pragma unroll 8
      for (Integer i = 0; i < size; ++i) {
        sum = sum + of(at<Compute>(runs.operand->address, runs.offset(i))...);
      }
    } else {
      for (Integer i = 0; i < size; ++i) sum = sum + of(element<Compute>(runs, i)...);
    }
    return sum;
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
  /// What others wrote until then is there, and what they read was read.
  __device__ void meet() const { __syncthreads(); }
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
  /// `start` is what combining it with changes nothing.
  template <class Value, class Of, class Combine>
  __device__ Value fold(Integer size, Value start, const Of& of, const Combine& combine) const {
    return combined<Value>(size, of, start, combine);
  }
  // Of elements of runs, as Compute. Those that lie side by side, and are of one floating dtype,
  // are read 16 bytes at a time; the dtype is looked at once.
  template <class Compute, class Of, class... Runs>
  __device__ auto sum_along(Integer size, const Of& of, const Runs&... runs) const {
    using Sum = decltype(of(element<Compute>(runs, 0)...));
    return along<Compute>(
        size, of, Sum(0), [](Sum a, Sum b) { return a + b; }, runs...);
  }
  template <class Compute, class Of, class... Runs>
  __device__ functors::TwoSums two_sums_along(Integer size, const Of& of,
                                              const Runs&... runs) const {
    const functors::TwoSums found = along_thread<Compute>(
        size, of, functors::TwoSums(), [](const auto& a, const auto& b) { return a + b; }, runs...);
    const auto plus = [](double a, double b) { return a + b; };
    return {of_block(found.first, 0.0, plus), of_block(found.second, 0.0, plus)};
  }
  template <class Compute, class Of, class... Runs>
  __device__ auto largest_along(Integer size, const Of& of, const Runs&... runs) const {
    using Value = decltype(of(element<Compute>(runs, 0)...));
    return along<Compute>(
        size, of, Value(-INFINITY), [](Value a, Value b) { return max(a, b); }, runs...);
  }
  /// to[i] = of(x[i]...)
  template <class Compute, class Of, class... Runs>
  __device__ void store_along(Integer size, const functors::ElementRun& to, const Of& of,
                              const Runs&... runs) const {
    const bool is_done = with_packs<Compute>(
        [&](auto element_of) {
          using T = typename decltype(element_of)::type;
          functors::store_in_packs<T>(
              size, thread(), to,
              [&](const auto&... x) { return narrowed<T>(of(as_compute<Compute>(x)...)); },
              runs...);
        },
        to, runs...);
    if (is_done) return;
    each(size,
         [&](Integer i) { store(*to.operand, to.offset(i), of(element<Compute>(runs, i)...)); });
  }
  /// A tile of the row after the other; what came before one is the same for all threads.
  template <class Of, class Visit>
  __device__ void scan(Integer size, const Of& of, const Visit& visit) const {
    using Sum = decltype(of(0));
    const unsigned lane = threadIdx.x % kWarpSize;
    const unsigned warp = threadIdx.x / kWarpSize;
    auto* const of_warps = reinterpret_cast<Sum*>(scratch);
    Sum before = 0;
    for (Integer first = 0; first < size; first += blockDim.x) {
      const Integer i = first + threadIdx.x;
      Sum sum = i < size ? of(i) : Sum(0);
      typename cub::WarpScan<Sum>::TempStorage unused;  // whole warps exchange registers
      cub::WarpScan<Sum>(unused).InclusiveSum(sum, sum);
      __syncthreads();  // the tile before was read
      if (lane == kWarpSize - 1) of_warps[warp] = sum;
      __syncthreads();
      Sum of_tile = 0;
      for (unsigned other = 0; other < blockDim.x / kWarpSize; ++other) {
        if (other == warp) sum += before + of_tile;
        of_tile += of_warps[other];
      }
      before += of_tile;
      if (i < size) visit(i, sum);
    }
  }

 private:
  template <class T>
  struct Type {
    using type = T;
  };
  static __device__ functors::BlockThread thread() { return {threadIdx.x, blockDim.x}; }

  /// use(Type<T>()) where all runs are of T, which Compute is made of, and lie side by side.
  template <class Compute, class Use, class... Runs>
  static __device__ bool with_packs(const Use& use, const functors::ElementRun& first,
                                    const Runs&... others) {
    const DType dtype = first.operand->dtype;
    if (((others.operand->dtype != dtype) || ...)) return false;
    const auto used = [&](auto type) {
      using T = typename decltype(type)::type;
      const bool are_packs =
          functors::is_in_packs<T>(first) && (functors::is_in_packs<T>(others) && ...);
      if (are_packs) use(type);
      return are_packs;
    };
    if constexpr (std::is_floating_point_v<Compute>) {
      if (dtype == DType::float16) return used(Type<__half>());
      if (dtype == DType::bfloat16) return used(Type<__nv_bfloat16>());
      if (dtype == DType::float32) return used(Type<float>());
    }
    if constexpr (std::is_same_v<Compute, double>) {
      if (dtype == DType::float64) return used(Type<double>());
    }
    return false;
  }

  template <class Compute, class Of, class Value, class Combine, class... Runs>
  __device__ Value along(Integer size, const Of& of, Value start, const Combine& combine,
                         const Runs&... runs) const {
    return of_block(along_thread<Compute>(size, of, start, combine, runs...), start, combine);
  }
  /// What the thread found of it.
  template <class Compute, class Of, class Value, class Combine, class... Runs>
  __device__ Value along_thread(Integer size, const Of& of, Value start, const Combine& combine,
                                const Runs&... runs) const {
    Value found[functors::kAccumulators];
    for (Value& each_lane : found) each_lane = start;
    const bool is_done = with_packs<Compute>(
        [&](auto element_of) {
          using T = typename decltype(element_of)::type;
          functors::visit_in_packs<T>(
              size, thread(),
              [&](int lane, const auto&... x) {
                found[lane] = combine(found[lane], of(as_compute<Compute>(x)...));
              },
              runs...);
        },
        runs...);
    if (!is_done) {
      for (Integer i = threadIdx.x; i < size; i += blockDim.x) {
        found[0] = combine(found[0], of(element<Compute>(runs, i)...));
      }
    }
    return combine(combine(found[0], found[1]), combine(found[2], found[3]));
  }

  template <class Value, class Of, class Combine>
  __device__ Value combined(Integer size, const Of& of, Value start, const Combine& combine) const {
    Value found = start;
    for (Integer i = threadIdx.x; i < size; i += blockDim.x) found = combine(found, of(i));
    return of_block(found, start, combine);
  }

  /// The same for every thread, and in every run: who adds what does not depend on the time.
  template <class Value, class Combine>
  __device__ Value of_block(Value found, Value start, const Combine& combine) const {
    static_assert(sizeof(Value) <= sizeof(double));
    typename cub::WarpReduce<Value>::TempStorage unused;  // whole warps exchange registers
    found = cub::WarpReduce<Value>(unused).Reduce(found, combine);
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

template <class Compute, class Functor>
__device__ void run_rows(const RowLaunch& rows, const Functor& functor) {
  if (rows.are_threads) {
    const Count threads = Count{gridDim.x} * blockDim.x;
    const ThreadTeam team;
    for (Count row = Count{blockIdx.x} * blockDim.x + threadIdx.x; row < rows.count;
         row += threads) {
      functor.template run<Compute>(team, rows, row);
    }
    return;
  }
  __shared__ double scratch[kWarpSize];
  BlockTeam team;
  team.scratch = scratch;
  for (Count row = blockIdx.x; row < rows.count; row += gridDim.x) {
    functor.template run<Compute>(team, rows, row);
  }
}

}  // namespace ohm::kernels

/// "ohm_NAME_TYPE"(rows, functor)
#define OHM_KERNEL(name, Functor, type, Compute)                                              \
  extern "C" __global__ void ohm_##name##_##type(const __grid_constant__ ohm::RowLaunch rows, \
                                                 const ohm::functors::Functor functor) {      \
    ohm::kernels::run_rows<Compute>(rows, functor);                                           \
  }
