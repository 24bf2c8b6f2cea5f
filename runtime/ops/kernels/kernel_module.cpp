#include "runtime/ops/kernels/kernel_module.h"

#include <algorithm>
#include <utility>

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

void KernelModule::launch(const std::string& symbol, cuda::Pointer out,
                          std::vector<cuda::Pointer> operands, std::size_t count) const {
  if (count == 0) return;
  const cuda::DriverFunctions& functions = card_->current();
  cuda::FunctionHandle function = nullptr;
  card_->driver().check(functions.module_function(&function, module_, symbol.c_str()),
                        "cuModuleGetFunction");
  unsigned long long elements = count;
  std::vector<void*> arguments = {&out};
  for (cuda::Pointer& operand : operands) arguments.push_back(&operand);
  arguments.push_back(&elements);
  card_->driver().check(functions.launch(function, blocks_for(count), 1, 1, kThreadsPerBlock, 1, 1,
                                         0, nullptr, arguments.data(), nullptr),
                        "cuLaunchKernel");
}

}  // namespace ohm::ops::kernels
