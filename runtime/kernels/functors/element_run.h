// Elements of an operand at equal steps, and how the threads of a block walk through them, 16 bytes
// at a time where they lie side by side: for nvcc and the host alike.
#pragma once

#include <cstdint>

#include "runtime/kernels/functors/row_launch.h"

#ifdef __CUDACC__
#define OHM_UNROLLED _Pragma("unroll")
#else
#define OHM_UNROLLED
#endif

namespace ohm::functors {

/// The operand outlives it.
struct ElementRun {
  const RowOperand* operand;
  std::int64_t start;
  std::int64_t step = 1;

  constexpr std::int64_t offset(std::int64_t i) const { return start + i * step; }
};

/// What a thread reads and writes at once: 16 bytes, the widest access there is.
template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T values[kCount];
};

/// A thread of a block.
struct BlockThread {
  std::uint32_t number;
  std::uint32_t count;  ///< of the block's threads
};

/// At most so many sums are added up side by side: an addition need not wait for the one before.
inline constexpr int kAccumulators = 4;

/// Whether its elements can be read and written in packs of T.
template <class T>
constexpr bool is_in_packs(const ElementRun& run) {
  const std::uint64_t before = static_cast<std::uint64_t>(run.start) * sizeof(T);
  return run.step == 1 && (run.operand->address + before) % sizeof(Pack<T>) == 0;
}

/// Its element `i`, or the pack that begins with it.
template <class Read>
constexpr Read& in_memory(const ElementRun& run, std::int64_t i, std::uint64_t item_bytes) {
  const auto before = static_cast<std::uint64_t>(run.start + i) * item_bytes;
  return *reinterpret_cast<Read*>(run.operand->address + before);
}

/// Calls visit(lane, x...) with the thread's share of `size` elements of each run, which are of T:
/// what has one lane is added up apart from the others. Pre-condition: is_in_packs.
template <class T, class Visit, class... Runs>
constexpr void visit_in_packs(std::int64_t size, const BlockThread& thread, const Visit& visit,
                              const Runs&... runs) {
  constexpr int kCount = Pack<T>::kCount;
  const auto visit_pack = [&](const auto&... packs) {
    OHM_UNROLLED for (int e = 0; e < kCount; ++e) visit(e % kAccumulators, packs.values[e]...);
  };
  const std::int64_t packs = size / kCount;
  for (std::int64_t i = thread.number; i < packs; i += thread.count) {
    visit_pack(Pack<T>(in_memory<const Pack<T>>(runs, i * kCount, sizeof(T)))...);
  }
  for (std::int64_t i = packs * kCount + thread.number; i < size; i += thread.count) {
    visit(0, T(in_memory<const T>(runs, i, sizeof(T)))...);
  }
}

/// to[i] = of(x[i]...), likewise; `to` may be one of the runs.
template <class T, class Of, class... Runs>
constexpr void store_in_packs(std::int64_t size, const BlockThread& thread, const ElementRun& to,
                              const Of& of, const Runs&... runs) {
  constexpr int kCount = Pack<T>::kCount;
  const auto computed = [&](const auto&... packs) {
    Pack<T> result;
    OHM_UNROLLED for (int e = 0; e < kCount; ++e) result.values[e] = of(packs.values[e]...);
    return result;
  };
  const std::int64_t packs = size / kCount;
  for (std::int64_t i = thread.number; i < packs; i += thread.count) {
    in_memory<Pack<T>>(to, i * kCount, sizeof(T)) =
        computed(Pack<T>(in_memory<const Pack<T>>(runs, i * kCount, sizeof(T)))...);
  }
  for (std::int64_t i = packs * kCount + thread.number; i < size; i += thread.count) {
    in_memory<T>(to, i, sizeof(T)) = of(T(in_memory<const T>(runs, i, sizeof(T)))...);
  }
}

}  // namespace ohm::functors
