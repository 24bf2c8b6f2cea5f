// The GPUs of this process: made as its environment says, and held while it forks.
#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {
namespace {

/// Of the processes that share the GPUs; nullptr: they do not, or it could not be opened.
GpuTable* mapped_table = nullptr;

/// What `make` makes of a variable of the environment. The program ends where that cannot be read:
/// no GPU is better than another one than was asked for.
template <class Make>
auto made_of(const char* variable, Make&& make) {
  const char* const value = std::getenv(variable);
  try {
    return make(std::string_view(value == nullptr ? "" : value));
  } catch (const std::exception& error) {
    fmt::print(stderr, "ohm: {}: {}\n", variable, error.what());
    std::_Exit(EXIT_FAILURE);
  }
}

GpuSystem* make_system() {
  FaultPlan faults = made_of(kFaultVariable, [](std::string_view plan) {
    return plan.empty() ? FaultPlan() : FaultPlan::parse(plan, PlannedCalls::device);
  });
  GpuTable* const table = made_of(kSharedGpusVariable, [](std::string_view path) {
    return path.empty() || mapped_table != nullptr ? mapped_table : new GpuTable(std::string(path));
  });
  auto* const system = made_of(kGpusVariable, [&](std::string_view selection) {
    return new GpuSystem(selection.empty() ? kDefaultGpu : selection,
                         std::getenv("CUDA_VISIBLE_DEVICES"), std::move(faults), table);
  });
  DeviceRecord::start(system->capacities());
  return system;
}

/// What a program took that this process was before belongs to nobody; and a program that changes
/// its user, or its root folder, has the table already.
[[gnu::constructor]] void map_table() {
  const char* const path = std::getenv(kSharedGpusVariable);
  if (path == nullptr || *path == '\0') return;
  try {
    mapped_table = new GpuTable(path);
    mapped_table->forget_this_process();
  } catch (const std::invalid_argument&) {
    // It is said where GPUs are used.
  }
}

/// Made at its first use, which another thread may be in the middle of when this one forks: held
/// then, as all of its state is. A static variable of a function would be left incomplete in the
/// child, which waits for it for ever.
std::mutex first_use;
std::atomic<GpuSystem*> made_system = nullptr;

void hold_for_fork() {
  first_use.lock();
  if (GpuSystem* const system = made_system) system->lock();
}

void release_after_fork() {
  if (GpuSystem* const system = made_system) system->unlock();
  first_use.unlock();
}

void release_in_child() {
  DeviceRecord::forget();
  if (GpuSystem* const system = made_system) system->lose_by_fork();
  release_after_fork();
}

[[gnu::constructor]] void follow_forks() {
  pthread_atfork(hold_for_fork, release_after_fork, release_in_child);
}

}  // namespace

GpuSystem& GpuSystem::of_process() {
  if (GpuSystem* const system = made_system.load(std::memory_order_acquire)) return *system;
  const std::scoped_lock lock(first_use);
  if (made_system == nullptr) made_system.store(make_system(), std::memory_order_release);
  return *made_system;
}

}  // namespace ohm::interpose
