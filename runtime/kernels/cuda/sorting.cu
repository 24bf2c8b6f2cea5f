// Sorts on a CUDA device: a kernel for each row of the lists and compute type. A block sorts a
// tile, or moves one by a digit.
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_scan.cuh>

#include "runtime/kernels/cuda/rows.cuh"
#include "runtime/kernels/functors/functor_list.h"

namespace {

using ohm::RowLaunch;
using ohm::functors::DigitOrder;
using ohm::functors::ElementRun;
using ohm::kernels::BlockTeam;
using ohm::kernels::Count;
using ohm::kernels::Integer;

constexpr int kThreads = 256;  // as kernel_module.cpp launches rows that are longer
constexpr int kEach = ohm::functors::SortedTile::kElements / kThreads;

template <class Key>
using TileSort = cub::BlockMergeSort<Key, kThreads, kEach, int>;

/// The elements of a tile as the threads have them: each has those of a run.
template <class Key>
struct SortingTeam : BlockTeam {
  typename TileSort<Key>::TempStorage* storage;  ///< shared

  template <class, class Precedes, class At, class Put>
  __device__ void sort(Integer size, const Precedes& precedes, const At& at, const Put& put) const {
    const int first = static_cast<int>(threadIdx.x) * kEach;
    Key keys[kEach];
    int places[kEach];
    for (int i = 0; i < kEach; ++i) {
      keys[i] = first + i < size ? at(first + i) : precedes.template last<Key>();
      places[i] = first + i;
    }
    __syncthreads();  // the tile before was read
    TileSort<Key>(*storage).StableSort(keys, places, precedes);
    for (int i = 0; i < kEach; ++i) {
      if (first + i < size) put(first + i, keys[i], Integer{places[i]});
    }
  }
};

template <class Compute, class Functor>
__device__ void sort_tiles(const RowLaunch& rows, const Functor& functor) {
  __shared__ typename TileSort<Compute>::TempStorage storage;
  SortingTeam<Compute> team;
  team.storage = &storage;
  for (Count row = blockIdx.x; row < rows.count; row += gridDim.x) {
    functor.template run<Compute>(team, rows, row);
  }
}

// ---- digit by digit -----------------------------------------------------------------------------

constexpr int kWarps = kThreads / ohm::kernels::kWarpSize;
static_assert(DigitOrder::kValues == kThreads, "a thread for each value of a digit");

/// What cub asks for the digit of what it ranks: that is one.
struct DigitItself {
  __device__ std::uint32_t Digit(std::uint32_t digit) const { return digit; }
};

template <class Element>
struct DigitTeam : BlockTeam {
  using Ranking = cub::BlockRadixRankMatchEarlyCounts<kThreads, DigitOrder::kBits, false>;
  using Sums = cub::BlockScan<int, kThreads>;
  static constexpr int kMost = ohm::functors::DigitTiles::kLength<Element>;
  static constexpr int kOfThread = kMost / kThreads;
  static_assert(kOfThread * kThreads == kMost);

  struct Tile {
    Element elements[kMost];
    int places[kMost];
  };
  struct Memory {
    union {
      int counts[kWarps][DigitOrder::kValues];
      typename Ranking::TempStorage ranking;
      typename Sums::TempStorage sums;
      Tile tile;
    };
    int starts[DigitOrder::kValues];
  };
  Memory* memory;  ///< shared

  template <class, class Found>
  __device__ void count_digits(Integer size, const DigitOrder& order, const ElementRun& run,
                               const Found& found) const {
    const int count = static_cast<int>(size);
    Element elements[kOfThread];
    load_run(run, count, memory->tile.elements, elements);
    for (int warp = 0; warp < kWarps; ++warp) memory->counts[warp][threadIdx.x] = 0;
    __syncthreads();
    int(&counts)[DigitOrder::kValues] = memory->counts[threadIdx.x / ohm::kernels::kWarpSize];
    OHM_UNROLLED for (int k = 0; k < kOfThread; ++k) {
      if (number_of(k) < count) atomicAdd(&counts[order.digit(elements[k])], 1);
    }
    __syncthreads();
    int sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) sum += memory->counts[warp][threadIdx.x];
    found(Integer{threadIdx.x}, Integer{sum});
  }

  /// Elements go through shared memory to where they are among those of the tile: those of one
  /// digit, which lie side by side there, are written side by side.
  template <class, class InAll, class InTilesBefore, class PutElement, class PutPlace>
  __device__ void move_by_digit(const ohm::functors::MovedTile& tile, const DigitOrder& order,
                                const InAll& in_all, const InTilesBefore& in_tiles_before,
                                const PutElement& put_element, const PutPlace& put_place) const {
    const int count = static_cast<int>(tile.count);
    Element elements[kOfThread];
    int places[kOfThread];
    int ranks[kOfThread];
    load_run(tile.elements, count, memory->tile.elements, elements);
    const bool are_read = are_places_read(tile, places);
    rank(count, order, elements, ranks, in_all, in_tiles_before);
    OHM_UNROLLED for (int k = 0; k < kOfThread; ++k) {
      memory->tile.elements[ranks[k]] = elements[k];
      memory->tile.places[ranks[k]] = places[k];
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
      const Element element = memory->tile.elements[i];
      const Integer to = memory->starts[order.digit(element)] + i;
      const Integer place = memory->tile.places[i];
      put_element(to, element);
      put_place(to, are_read ? place : this->template element<Integer>(tile.places, place));
    }
  }

 private:
  /// Of the tile's elements. Warps have them one after the other, and the threads of a warp what
  /// lies side by side.
  static __device__ int number_of(int k) {
    constexpr unsigned kWarpSize = ohm::kernels::kWarpSize;
    const unsigned warp = threadIdx.x / kWarpSize;
    return static_cast<int>((warp * kOfThread + k) * kWarpSize + threadIdx.x % kWarpSize);
  }

  /// Each thread's, through `shared` where they do not lie as they are wanted.
  template <class T>
  static __device__ void load_run(const ElementRun& run, int count, T* shared,
                                  T (&values)[kOfThread]) {
    constexpr ohm::DType kDType = std::is_same_v<T, float>    ? ohm::DType::float32
                                  : std::is_same_v<T, double> ? ohm::DType::float64
                                                              : ohm::DType::int32;
    __syncthreads();  // the tile before was read
    const bool lies_as_wanted = run.operand->dtype == kDType && run.step == 1;
    if (!lies_as_wanted) {
      for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
        shared[i] = element<T>(run, i);
      }
      __syncthreads();
    }
    const T* const from =
        lies_as_wanted ? reinterpret_cast<const T*>(run.operand->address) + run.start : shared;
    OHM_UNROLLED for (int k = 0; k < kOfThread; ++k) {
      values[k] = number_of(k) < count ? from[number_of(k)] : T(0);
    }
    if (!lies_as_wanted) __syncthreads();  // it is read: other things may go there
  }
  /// False where they are wider than what goes through shared memory: in their stead are the
  /// numbers of the elements that have them.
  __device__ bool are_places_read(const ohm::functors::MovedTile& tile,
                                  int (&places)[kOfThread]) const {
    const bool are_there = tile.places.operand->address != 0;
    if (are_there && tile.places.operand->dtype == ohm::DType::int32) {
      load_run(tile.places, static_cast<int>(tile.count), memory->tile.places, places);
      return true;
    }
    const int first = are_there ? 0 : static_cast<int>(tile.first_place);
    OHM_UNROLLED for (int k = 0; k < kOfThread; ++k) places[k] = first + number_of(k);
    return !are_there;
  }

  /// Where the thread's elements are among the tile's, by digit and then as they came; and what
  /// that is short of their place in the row, for each value of the digit.
  template <class InAll, class InTilesBefore>
  __device__ void rank(int count, const DigitOrder& order, const Element (&elements)[kOfThread],
                       int (&ranks)[kOfThread], const InAll& in_all,
                       const InTilesBefore& in_tiles_before) const {
    int lower = 0;
    const int before = static_cast<int>(in_tiles_before(Integer{threadIdx.x}));
    Sums(memory->sums).ExclusiveSum(static_cast<int>(in_all(Integer{threadIdx.x})), lower);
    __syncthreads();
    std::uint32_t digits[kOfThread];
    OHM_UNROLLED for (int k = 0; k < kOfThread; ++k) {
      // What is behind the last element goes behind it.
      digits[k] = number_of(k) < count ? order.digit(elements[k]) : DigitOrder::kValues - 1U;
    }
    int in_tile[1];
    Ranking(memory->ranking).RankKeys(digits, ranks, DigitItself(), in_tile);
    memory->starts[threadIdx.x] = lower + before - in_tile[0];
    __syncthreads();
  }
};

template <class Compute, class Functor>
__device__ void move_tiles(const RowLaunch& rows, const Functor& functor) {
  __shared__ typename DigitTeam<Compute>::Memory memory;
  DigitTeam<Compute> team;
  team.memory = &memory;
  for (Count row = blockIdx.x; row < rows.count; row += gridDim.x) {
    functor.template run<Compute>(team, rows, row);
  }
}

}  // namespace

#define OHM_TILE_KERNEL(name, Functor, type, Compute)                                         \
  extern "C" __global__ void ohm_##name##_##type(const __grid_constant__ ohm::RowLaunch rows, \
                                                 const ohm::functors::Functor functor) {      \
    sort_tiles<Compute>(rows, functor);                                                       \
  }
#define OHM_ROW(name, Functor, ...)              \
  OHM_TILE_KERNEL(name, Functor, float32, float) \
  OHM_TILE_KERNEL(name, Functor, float64, double)
OHM_FOR_EACH_SORTED_TILE(OHM_ROW)
#undef OHM_ROW
// So many blocks at once, on one multiprocessor: registers are shared out accordingly.
#define OHM_DIGIT_KERNEL(name, Functor, type, Compute, blocks)                             \
  extern "C" __global__ void __launch_bounds__(kThreads, blocks) ohm_##name##_##type(      \
      const __grid_constant__ ohm::RowLaunch rows, const ohm::functors::Functor functor) { \
    move_tiles<Compute>(rows, functor);                                                    \
  }
#define OHM_ROW(name, Functor, ...)                  \
  OHM_DIGIT_KERNEL(name, Functor, float32, float, 3) \
  OHM_DIGIT_KERNEL(name, Functor, float64, double, 2)
OHM_FOR_EACH_DIGIT_TILE(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Functor, ...)         \
  OHM_KERNEL(name, Functor, float32, float) \
  OHM_KERNEL(name, Functor, float64, double)
OHM_FOR_EACH_SORTING_ROW(OHM_ROW)
#undef OHM_ROW
