#include "harness/process/host_heap.h"

#include <malloc.h>

namespace ohm::engine {

void keep_freed_memory() {
  constexpr int kNever = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, kNever);
  ::mallopt(M_TRIM_THRESHOLD, kNever);
}

void give_back_freed_memory() { ::malloc_trim(0); }

}  // namespace ohm::engine
