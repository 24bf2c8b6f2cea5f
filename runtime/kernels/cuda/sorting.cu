// Sorts on a CUDA device: a kernel for each row of the lists and compute type. A block sorts a
// tile.
#include <cub/block/block_merge_sort.cuh>

#include "runtime/kernels/cuda/rows.cuh"
#include "runtime/kernels/functors/functor_list.h"

namespace {

using ohm::RowLaunch;
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
#define OHM_ROW(name, Functor, ...)         \
  OHM_KERNEL(name, Functor, float32, float) \
  OHM_KERNEL(name, Functor, float64, double)
OHM_FOR_EACH_SORTING_ROW(OHM_ROW)
#undef OHM_ROW
