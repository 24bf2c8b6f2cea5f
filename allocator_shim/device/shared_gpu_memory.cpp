#include "allocator_shim/device/shared_gpu_memory.h"

#include "allocator_shim/base/assert.h"

namespace ohm {

std::size_t SharedGpuMemory::add_process(std::uint32_t id) {
  processes_.push_back({id, 0, processes_.size()});
  return processes_.back().place;
}

bool SharedGpuMemory::take(std::size_t place, std::size_t bytes) {
  if (bytes > capacity_bytes_ - used_bytes_) return false;
  used_bytes_ += bytes;
  processes_[place].bytes += bytes;
  return true;
}

void SharedGpuMemory::give_back(std::size_t place, std::size_t bytes) {
  Process& process = processes_[place];
  OHM_ASSERT(bytes <= process.bytes, "more given back than taken");
  process.bytes -= bytes;
  used_bytes_ -= bytes;
}

}  // namespace ohm
