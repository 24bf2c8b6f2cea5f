#include "runtime/ops/host/blas_library.h"

#include <cstdlib>

#include "allocator_shim/device/cuda/shared_library.h"

namespace ohm::ops {
namespace {

BlasLibrary open_library() {
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
