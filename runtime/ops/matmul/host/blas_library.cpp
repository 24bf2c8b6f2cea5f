#include "runtime/ops/matmul/host/blas_library.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "allocator_shim/device/cuda/shared_library.h"

namespace ohm::ops {
namespace {

// OpenBLAS asks for its buffer of 128 MiB again and again, without end, where it gets none.
void require_room_for_buffer() {
  constexpr std::size_t kBufferBytes = std::size_t{136} << 20U;
  void* const room =
      ::mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  ::munmap(room, kBufferBytes);
}

BlasLibrary open_library() {
  require_room_for_buffer();
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);  // NOLINT(concurrency-mt-unsafe): ranks take turns
  const SharedLibrary library("libopenblas.so.0", "OpenBLAS");
  BlasLibrary functions{};
  library.find("cblas_sgemm", functions.sgemm);
  library.find("cblas_dgemm", functions.dgemm);
  return functions;
}

}  // namespace

const BlasLibrary& blas_library() {
  static const BlasLibrary kLibrary = open_library();
  return kLibrary;
}

}  // namespace ohm::ops
