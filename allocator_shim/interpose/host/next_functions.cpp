#include "allocator_shim/interpose/host/next_functions.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace ohm::interpose::host {

constinit NextFunctions next;

namespace {

constexpr std::size_t kStartUpBytes = 64 << 10;
constexpr std::size_t kAlignment = 16;

alignas(kAlignment) std::array<std::byte, kStartUpBytes> start_up;
std::atomic<std::size_t> start_up_used = 0;

template <typename Function>
void find_next(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

bool find_next_functions() {
  // Programs have no second thread yet.
  static bool is_finding = false;
  if (is_finding) return false;
  is_finding = true;
#define OHM_FIND(name) find_next(next.name, #name);
  OHM_FOR_EACH_NEXT(OHM_FIND)
#undef OHM_FIND
  is_finding = false;
  return true;
}

void* start_up_memory(std::size_t bytes) {
  // The size stands before the block.
  const std::size_t whole = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t begin = start_up_used.fetch_add(whole, std::memory_order_relaxed);
  if (bytes > kStartUpBytes || begin + whole > kStartUpBytes) return nullptr;
  std::byte* const header = start_up.data() + begin;
  *reinterpret_cast<std::size_t*>(header) = bytes;
  return header + kAlignment;
}

bool is_start_up_memory(const void* block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const auto begin = reinterpret_cast<std::uintptr_t>(start_up.data());
  return address - begin < kStartUpBytes;
}

std::size_t start_up_bytes(const void* block) {
  return *reinterpret_cast<const std::size_t*>(static_cast<const std::byte*>(block) - kAlignment);
}

}  // namespace ohm::interpose::host
