// The result of asking a CUDA device for an op.
#pragma once

namespace ohm::ops {

/// `no`: nothing was done, the host has to.
enum class CudaResult : bool { no, done };

}  // namespace ohm::ops
