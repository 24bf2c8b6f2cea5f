// The memory that matrix libraries take beside operands and result.
//
// As PyTorch 2.6 has it: a cuBLAS handle (one for each thread and device) keeps a workspace from
// its first use on; cuBLASLt takes 1 MiB for each call. From 2.9 on it keeps that as well. Sizes
// are those of the GPU's profile; a profile with 0 models none.
#pragma once

#include "runtime/tensor/storage.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Makes the persistent workspace of the running thread's handle on `device`, once; what is kept,
/// or null where none is modelled.
const Storage* ensure_cublas_workspace(Device device);

/// The 1 MiB of one cuBLASLt call; null where none is modelled.
IntrusivePtr<Storage> cublaslt_workspace(Device device);

}  // namespace ohm::ops
