// The memory that malloc takes from the system.
#pragma once

namespace ohm::engine {

/// Whatever this process frees it keeps: kernels take the same large scratch again and again, and
/// to give it back to the system each time would cost more than the arithmetic. For the beginning
/// of main().
void keep_freed_memory();

}  // namespace ohm::engine
