// Element-wise kernels, made from the formulas that the host computes with: one template, and a
// kernel "ohm_NAME_DTYPE"(out, a[, b], count) for each row of the list. Operands are contiguous,
// aligned to 16 bytes, and of the output's type; halves are computed in float.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "runtime/ops/kernels/pointwise_kernels.h"

namespace {

using Count = unsigned long long;

__device__ float widened(float x) { return x; }
__device__ double widened(double x) { return x; }
__device__ float widened(__half x) { return __half2float(x); }
__device__ float widened(__nv_bfloat16 x) { return __bfloat162float(x); }

__device__ void store(float& to, float x) { to = x; }
__device__ void store(double& to, double x) { to = x; }
__device__ void store(__half& to, float x) { to = __float2half_rn(x); }
__device__ void store(__nv_bfloat16& to, float x) { to = __float2bfloat16_rn(x); }

/// What a thread reads and writes at once: 16 bytes, the widest access there is.
template <class T>
struct alignas(16) Pack {
  static constexpr Count kCount = 16 / sizeof(T);
  T values[kCount];
};

template <class Formula, class T, class... In>
__device__ void for_each_element(T* out, Count count, const In*... in) {
  const Formula formula;
  const Count first = Count{blockIdx.x} * blockDim.x + threadIdx.x;
  const Count threads = Count{gridDim.x} * blockDim.x;
  const Count packs = count / Pack<T>::kCount;
  for (Count i = first; i < packs; i += threads) {
    const auto apply = [&](auto... operands) {
      Pack<T> result;
      for (Count k = 0; k < Pack<T>::kCount; ++k) {
        store(result.values[k], formula(widened(operands.values[k])...));
      }
      reinterpret_cast<Pack<T>*>(out)[i] = result;
    };
    apply(reinterpret_cast<const Pack<In>*>(in)[i]...);
  }
  for (Count i = packs * Pack<T>::kCount + first; i < count; i += threads) {
    store(out[i], formula(widened(in[i])...));
  }
}

}  // namespace

#define OHM_UNARY_KERNEL(name, Formula, dtype, T)                                           \
  extern "C" __global__ void ohm_##name##_##dtype(T* out, const T* a, Count count) { \
    for_each_element<ohm::ops::formulas::Formula>(out, count, a);                    \
  }
#define OHM_BINARY_KERNEL(name, Formula, dtype, T)                                                      \
  extern "C" __global__ void ohm_##name##_##dtype(T* out, const T* a, const T* b, Count count) { \
    for_each_element<ohm::ops::formulas::Formula>(out, count, a, b);                             \
  }
#define OHM_EACH_DTYPE(KERNEL, name, Formula)    \
  KERNEL(name, Formula, float16, __half)         \
  KERNEL(name, Formula, bfloat16, __nv_bfloat16) \
  KERNEL(name, Formula, float32, float)          \
  KERNEL(name, Formula, float64, double)

#define OHM_ROW(name, Formula) OHM_EACH_DTYPE(OHM_UNARY_KERNEL, name, Formula)
OHM_FOR_EACH_UNARY_KERNEL(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Formula) OHM_EACH_DTYPE(OHM_BINARY_KERNEL, name, Formula)
OHM_FOR_EACH_BINARY_KERNEL(OHM_ROW)
#undef OHM_ROW
