#include "allocator_shim/interpose/device_variables.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {
namespace {

struct Variables {
  std::mutex mutex;
  std::map<const void*, DeviceVariable> by_symbol;
  std::vector<DeviceVariable> managed;  ///< that are not known as such yet
};

/// Never destroyed: libraries call while a process ends.
Variables& variables() {
  static auto* const made = new Variables;  // NOLINT(cppcoreguidelines-owning-memory)
  return *made;
}

}  // namespace

void register_variable(const void* symbol, std::size_t bytes) {
  Variables& known = variables();
  const std::lock_guard guard(known.mutex);
  known.by_symbol[symbol] = {nullptr, bytes};
}

void register_managed_variable(void** place, std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole));
  if (memory == nullptr) return;
  std::memset(memory, 0, whole);
  *place = memory;
  Variables& known = variables();
  const std::lock_guard guard(known.mutex);
  // Host code names it by its pointer, or by what that leads to.
  known.by_symbol[static_cast<const void*>(place)] = {memory, bytes};
  known.by_symbol[memory] = {memory, bytes};
  known.managed.push_back({memory, bytes});
}

void adopt_managed_variables() {
  Variables& known = variables();
  const std::lock_guard guard(known.mutex);
  for (const DeviceVariable& variable : known.managed) {
    gpus().adopt_managed(reinterpret_cast<DeviceAddress>(variable.address), variable.bytes);
  }
  known.managed.clear();
}

std::optional<DeviceVariable> find_variable(const void* symbol) {
  Variables& known = variables();
  const std::lock_guard guard(known.mutex);
  const auto found = known.by_symbol.find(symbol);
  if (found == known.by_symbol.end()) return std::nullopt;
  DeviceVariable& variable = found->second;
  if (variable.address == nullptr) {
    variable.address = static_cast<std::byte*>(std::calloc(variable.bytes, 1));
    if (variable.address == nullptr) return std::nullopt;
    // Devices reach it.
    gpus().add_pinned(variable.address, variable.bytes, Pinned::variable);
  }
  return variable;
}

}  // namespace ohm::interpose
