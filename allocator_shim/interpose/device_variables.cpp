#include "allocator_shim/interpose/device_variables.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {
namespace {

struct Variables {
  std::mutex mutex;
  std::map<const void*, DeviceVariable> by_symbol;
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
    gpus().add_pinned(variable.address, variable.bytes, Pinned::registered);
  }
  return variable;
}

}  // namespace ohm::interpose
