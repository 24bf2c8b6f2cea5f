// Sorts on a card: a kernel for each row of the lists and compute type. A block sorts a tile.
#include <cub/block/block_merge_sort.cuh>

#include "runtime/kernels/cuda/rows.cuh"
#include "runtime/kernels/functors/functor_list.h"

namespace {

using ohm::CardLines;
using ohm::ops::kernels::BlockTeam;
using ohm::ops::kernels::Count;
using ohm::ops::kernels::Integer;

constexpr int kThreads = 256;  // as kernel_module.cpp launches lines that are longer
constexpr int kEach = ohm::formulas::SortedTile::kElements / kThreads;

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

template <class Compute, class Formula>
__device__ void sort_tiles(const CardLines& lines, const Formula& formula) {
  __shared__ typename TileSort<Compute>::TempStorage storage;
  SortingTeam<Compute> team;
  team.storage = &storage;
  for (Count line = blockIdx.x; line < lines.count; line += gridDim.x) {
    formula.template run<Compute>(team, lines, line);
  }
}

}  // namespace

#define OHM_TILE_KERNEL(name, Formula, type, Compute)                                          \
  extern "C" __global__ void ohm_##name##_##type(const __grid_constant__ ohm::CardLines lines, \
                                                 const ohm::formulas::Formula formula) {       \
    sort_tiles<Compute>(lines, formula);                                                       \
  }
#define OHM_ROW(name, Formula, ...)              \
  OHM_TILE_KERNEL(name, Formula, float32, float) \
  OHM_TILE_KERNEL(name, Formula, float64, double)
OHM_FOR_EACH_SORTED_TILE(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Formula, ...)         \
  OHM_KERNEL(name, Formula, float32, float) \
  OHM_KERNEL(name, Formula, float64, double)
OHM_FOR_EACH_SORTING_LINE(OHM_ROW)
#undef OHM_ROW
