// What becomes of asking a real card for an op.
#pragma once

namespace ohm::ops {

/// `no`: nothing was done, the host has to.
enum class CudaResult : bool { no, done };

}  // namespace ohm::ops
