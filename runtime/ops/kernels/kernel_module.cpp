#include "runtime/ops/kernels/kernel_module.h"

#include <algorithm>
#include <array>
#include <utility>

#include "allocator_shim/observe/assert.h"

namespace ohm::ops::kernels {
namespace {

constexpr unsigned kThreadsPerBlock = 256;
/// More blocks than any card runs at once: the kernels walk over what is left.
constexpr std::size_t kMostBlocks = 8192;
/// A thread's share: 16 bytes, of which an element takes 8 at most.
constexpr std::size_t kElementsPerThread = 2;

unsigned blocks_for(std::size_t count) {
  const std::size_t threads = (count + kElementsPerThread - 1) / kElementsPerThread;
  const std::size_t blocks = (threads + kThreadsPerBlock - 1) / kThreadsPerBlock;
  return static_cast<unsigned>(std::clamp<std::size_t>(blocks, 1, kMostBlocks));
}

}  // namespace

KernelModule::KernelModule(std::shared_ptr<const cuda::Card> card) : card_(std::move(card)) {
  card_->driver().check(card_->current().module_load(&module_, kernel_image().data()),
                        "cuModuleLoadData");
}

KernelModule::~KernelModule() {
  if (card_->driver().is_usable()) card_->driver().functions().module_unload(module_);
}

cuda::FunctionHandle KernelModule::function(const char* formula, DType dtype) const {
  const auto key = std::make_pair(formula, kernel_dtype(dtype));
  const auto known = functions_.find(key);
  if (known != functions_.end()) return known->second;
  cuda::FunctionHandle found = nullptr;
  const cuda::Result result =
      card_->current().module_function(&found, module_, kernel_symbol(formula, dtype).c_str());
  if (result != cuda::kNotFound) card_->driver().check(result, "cuModuleGetFunction");
  return functions_.emplace(key, result == cuda::kNotFound ? nullptr : found).first->second;
}

bool KernelModule::has(const char* formula, DType dtype) const {
  return function(formula, dtype) != nullptr;
}

void KernelModule::launch(const char* formula, const CardLoop& loop, const void* parameters) const {
  const cuda::FunctionHandle kernel = function(formula, loop.dtype);
  OHM_ASSERT(kernel != nullptr && loop.count > 0, "a loop that there is a kernel for");
  // The driver reads both before it returns.
  std::array<void*, 2> arguments = {const_cast<CardLoop*>(&loop), const_cast<void*>(parameters)};
  card_->driver().check(
      card_->current().launch(kernel, blocks_for(loop.count), 1, 1, kThreadsPerBlock, 1, 1, 0,
                              nullptr, arguments.data(), nullptr),
      "cuLaunchKernel");
}

}  // namespace ohm::ops::kernels
