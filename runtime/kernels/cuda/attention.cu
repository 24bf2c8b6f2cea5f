// Fused attention on a CUDA device: a kernel for each row of the list. A block computes a row.
#include "runtime/kernels/cuda/rows.cuh"
#include "runtime/kernels/functors/functor_list.h"

namespace {

using ohm::RowLaunch;
using ohm::kernels::BlockTeam;
using ohm::kernels::Count;
using ohm::kernels::Integer;

constexpr Integer kTile = 128;

struct AttentionTeam : BlockTeam {
  float* weights;  ///< shared, a tile of them

  /// Weights are a tile's at a time, and each thread sums up a column.
  template <class Weight, class Of, class Store>
  __device__ void weighted_sums(Integer count, Integer columns, const Weight& weight, const Of& of,
                                const Store& store) const {
    for (Integer first = 0; first < columns; first += blockDim.x) {
      const Integer column = first + threadIdx.x;
      double sum = 0;
      for (Integer begin = 0; begin < count; begin += kTile) {
        const Integer size = min(kTile, count - begin);
        __syncthreads();  // the tile before was read
        each(size, [&](Integer i) { weights[i] = weight(begin + i); });
        __syncthreads();
        for (Integer i = 0; column < columns && i < size; ++i) {
          sum += static_cast<double>(weights[i] * of(begin + i, column));
        }
      }
      if (column < columns) store(column, sum);
    }
  }
};

template <class Functor>
__device__ void run_blocks(const RowLaunch& rows, const Functor& functor) {
  __shared__ double scratch[ohm::kernels::kWarpSize];
  __shared__ float weights[kTile];
  AttentionTeam team;
  team.scratch = scratch;
  team.weights = weights;
  for (Count row = blockIdx.x; row < rows.count; row += gridDim.x) {
    functor.template run<float>(team, rows, row);
  }
}

}  // namespace

#define OHM_ROW(name, Functor, ...)                                                            \
  extern "C" __global__ void ohm_##name##_float32(const __grid_constant__ ohm::RowLaunch rows, \
                                                  const ohm::functors::Functor functor) {      \
    run_blocks(rows, functor);                                                                 \
  }
OHM_FOR_EACH_ATTENTION_ROW(OHM_ROW)
#undef OHM_ROW
