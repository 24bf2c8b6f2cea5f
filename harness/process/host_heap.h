// The memory that malloc takes from the system.
#pragma once

namespace ohm::engine {

/// Whatever this process frees it keeps: kernels take the same large scratch again and again, and
/// to give it back to the system each time would cost more than the arithmetic. For the beginning
/// of main().
void keep_freed_memory();

/// Gives back what is free now: copies of this process take time for each page that it has.
void give_back_freed_memory();

}  // namespace ohm::engine
