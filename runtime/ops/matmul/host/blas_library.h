// OpenBLAS, opened when the first matrix product needs it.
#pragma once

#include <cblas.h>

namespace ohm::ops {

/// Note [OpenBLAS without threads]
/// A program that is linked with OpenBLAS starts its threads before main(): with little address
/// space (ulimit -v) they cannot be made, and the program hangs or is killed, whatever it was
/// called for. The library reads how many threads it may have when it is opened. One is what we
/// want: a result must not depend on the number of cores, variants run side by side, and the
/// process of a trial has to be the copy of a process with one thread.
struct BlasLibrary {
  decltype(&cblas_sgemm) sgemm;
  decltype(&cblas_dgemm) dgemm;
};

/// Throws GpuUnavailable where it cannot be opened.
const BlasLibrary& blas_library();

}  // namespace ohm::ops
