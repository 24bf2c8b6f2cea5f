// The memory that matrix libraries take beside operands and result.
//
// A cuBLAS handle (one for each thread and device) has a workspace, and so has a call of cuBLASLt,
// 1 MiB. How long they live is a rule of PyTorch's version: WorkspaceLife. Sizes are those of the
// GPU's profile; a profile with 0 models none.
#pragma once

#include <cstdint>

#include "runtime/tensor/storage.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// That of one cuBLAS call on the running thread and stream, to be held as long as the call: fresh,
/// or the one that the handle keeps. Null where none is modelled.
IntrusivePtr<Storage> cublas_workspace(Device device);

/// Takes the workspaces of `calls` cuBLAS calls, one after the other.
void use_cublas_workspace(Device device, std::int64_t calls);

/// Those of one cuBLASLt call.
struct FusedWorkspaces {
  IntrusivePtr<Storage> cublaslt;
  IntrusivePtr<Storage> cublas;  ///< null where its handle is not asked for
};
FusedWorkspaces fused_workspaces(Device device);

}  // namespace ohm::ops
