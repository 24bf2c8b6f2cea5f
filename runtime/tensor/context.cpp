#include "runtime/tensor/context.h"

#include <fmt/core.h>

#include <utility>

#include "allocator_shim/base/assert.h"
#include "runtime/base/refusal.h"
#include "runtime/base/running_op.h"
#include "runtime/tensor/cuda_backend.h"

namespace ohm {
namespace {

thread_local Context* installed_context = nullptr;

}  // namespace

Context& Context::current() {
  OHM_ASSERT(installed_context != nullptr, "no runtime context is installed on this thread");
  return *installed_context;
}

DeviceSlot& Context::slot(Device device) {
  if (device.is_cpu()) return host;
  const auto index = static_cast<std::size_t>(device.index);
  if (index >= gpus.size()) {
    refuse(fmt::format("{} does not exist: this machine has {} GPU{}", device.str(), gpus.size(),
                       gpus.size() == 1 ? "" : "s"));
  }
  return gpus[index];
}

SiteId Context::site() {
  if (sites == nullptr) return kUnknownSite;
  const auto hash = static_cast<std::size_t>(state.line) * 31U +
                    (reinterpret_cast<std::uintptr_t>(state.op.data()) >> 3U);
  CachedSite& cached = site_cache_[hash % site_cache_.size()];
  if (cached.file != state.file.data() || cached.op != state.op.data() ||
      cached.line != state.line) {
    cached = {state.file.data(), state.op.data(), state.line,
              sites->intern(state.file, state.line, state.op)};
  }
  return cached.id;
}

void Context::seed(std::uint64_t seed) {
  host.generator = {seed, 0};
  for (DeviceSlot& gpu : gpus) gpu.seed(seed);
}

void Context::check_deferred_errors() {
  for (const DeviceSlot& gpu : gpus) {
    if (gpu.backend != nullptr && gpu.backend->errors) gpu.backend->errors->check();
  }
}

ContextGuard::ContextGuard(Context& context)
    : previous_(std::exchange(installed_context, &context)),
      previous_op_(exchange_running_op(&context.state.op)) {}

ContextGuard::~ContextGuard() {
  exchange_running_op(previous_op_);
  installed_context = previous_;
}

WorkerThreadScope::WorkerThreadScope(std::uint32_t number)
    : context_(Context::current()),
      previous_(std::exchange(
          context_.state.thread,
          static_cast<ExecutionThread>(static_cast<std::uint32_t>(ExecutionThread::first_worker) +
                                       number))),
      previous_number_(std::exchange(context_.state.next_sequence_numbers.back(), 0)) {}

WorkerThreadScope::~WorkerThreadScope() {
  for (DeviceSlot& gpu : context_.gpus) gpu.library_handles.give_back(context_.state.thread);
  context_.state.convolution_plans.forget(context_.state.thread);
  context_.state.thread = previous_;
  context_.state.next_sequence_numbers.back() = previous_number_;
}

CategoryGuard::CategoryGuard(Category category)
    : context_(Context::current()), previous_(std::exchange(context_.state.category, category)) {}

}  // namespace ohm
