#include "harness/process/host_heap.h"

#include <malloc.h>

namespace ohm::engine {

void keep_freed_memory() {
  constexpr int kNever = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, kNever);
  ::mallopt(M_TRIM_THRESHOLD, kNever);
}

}  // namespace ohm::engine
