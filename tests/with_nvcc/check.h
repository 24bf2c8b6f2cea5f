// Checks of the programs: the first that fails ends them with 1, and says which.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::printf("%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, \
                  cudaGetErrorName(cudaGetLastError()));                          \
      std::exit(1);                                                               \
    }                                                                             \
  } while (false)

/// A call that succeeds.
#define OK(call)                                                                                  \
  do {                                                                                            \
    const auto status = (call);                                                                   \
    if (static_cast<int>(status) != 0) {                                                          \
      std::printf("%s:%d: %s returns %d\n", __FILE__, __LINE__, #call, static_cast<int>(status)); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (false)

constexpr std::size_t kMiB = std::size_t{1} << 20;

inline std::size_t free_bytes() {
  std::size_t left = 0, total = 0;
  OK(cudaMemGetInfo(&left, &total));
  return left;
}
