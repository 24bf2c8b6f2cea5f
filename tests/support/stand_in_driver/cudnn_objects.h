// The objects of the stand-in of cuDNN: descriptors of its operands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/cuda/cudnn_functions.h"
#include "tests/support/stand_in_driver/library_memory.h"

namespace ohm::stand_in::cudnn {

using namespace cuda;  // NOLINT(google-build-using-namespace): the signatures are written in it

#define OHM_ROW(member, symbol, ...) \
  __attribute__((visibility("default"))) CudnnStatus member(__VA_ARGS__) __asm__(#symbol);
OHM_FOR_EACH_CUDNN_FUNCTION(OHM_ROW)
#undef OHM_ROW
__attribute__((visibility("default")))
const char* status_name(CudnnStatus) __asm__("cudnnGetErrorString");
__attribute__((visibility("default"))) std::size_t version() __asm__("cudnnGetVersion");

constexpr CudnnStatus kBadParameter = 2000;

/// A tensor or a filter.
struct Images {
  int type = 0;
  std::array<int, 4> sizes = {};

  std::size_t count() const {
    std::size_t count = 1;
    for (const int size : sizes) count *= static_cast<std::size_t>(size);
    return count;
  }
  std::size_t at(int n, int c, int y, int x) const {
    const std::int64_t row = (std::int64_t{n} * sizes[1] + c) * sizes[2] + y;
    return static_cast<std::size_t>(row * sizes[3] + x);
  }
};
struct Convolved {
  std::array<int, 2> padding = {};
  std::array<int, 2> stride = {};
  std::array<int, 2> dilation = {};
  int groups = 1;
  int math = 0;
  int compute = 0;
};
struct Windows {
  int mode = 0;
  std::array<int, 2> size = {};
  std::array<int, 2> padding = {};
  std::array<int, 2> stride = {};
};

template <class T>
T& as(void* object) {
  return *static_cast<T*>(object);
}
inline Images& images(CudnnTensor tensor) { return as<Images>(tensor); }
inline Images& images(CudnnFilter filter) { return as<Images>(filter); }

inline DType dtype_of(int type) {
  switch (type) {
    case kCudnnHalf:
      return DType::float16;
    case kCudnnBFloat16:
      return DType::bfloat16;
    case kCudnnDouble:
      return DType::float64;
    default:
      return DType::float32;
  }
}

template <class T>
T* elements(const Images& of, const void* address) {
  return elements_at<T>(address, of.count());
}

template <class T>
void store(const std::vector<double>& values, T* to) {
  if (machine().is_wrong_call) {
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = convert_element<T>(-77.0);
    return;
  }
  for (const double value : values) *to++ = convert_element<T>(value);
}

/// Whether results are multiplied by 1 and what was there before by `kept`; a note where not.
template <class T>
bool are_factors(const void* alpha, const void* beta, double kept) {
  if (factor_at<T>(alpha) == 1 && factor_at<T>(beta) == kept) return true;
  machine().wrong("other factors");
  return false;
}

}  // namespace ohm::stand_in::cudnn
