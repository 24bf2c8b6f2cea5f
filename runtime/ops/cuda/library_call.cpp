#include "runtime/ops/cuda/library_call.h"

#include "runtime/tensor/context.h"

namespace ohm::ops {

cuda::DeviceLibraries* libraries_for(std::initializer_list<const Tensor*> tensors) {
  const CudaBackend* backend = nullptr;
  const Tensor* first = nullptr;
  for (const Tensor* tensor : tensors) {
    if (!tensor->defined()) continue;
    const CudaBackend* const its = tensor->cuda_backend();
    if (its == nullptr || !is_floating(tensor->dtype())) return nullptr;
    if (first != nullptr && (its != backend || tensor->dtype() != first->dtype())) return nullptr;
    backend = its;
    first = tensor;
  }
  return backend == nullptr ? nullptr : backend->libraries.get();
}

cuda::ElementType element_type(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return cuda::ElementType::float16;
    case DType::bfloat16:
      return cuda::ElementType::bfloat16;
    case DType::float64:
      return cuda::ElementType::float64;
    default:
      return cuda::ElementType::float32;
  }
}

cuda::Pointer overwrite_on_cuda(const Tensor& tensor) {
  const bool is_all = tensor.nbytes() == tensor.storage().bytes();
  return tensor.cuda_address(is_all ? CudaAccess::overwrite : CudaAccess::write);
}

void rethrow_on(Device device, const cuda::LibraryError& error) {
  if (error.failure() != cuda::LibraryFailure::out_of_memory) throw;
  Context& context = Context::current();
  const ExecutionState& state = context.state;
  const DeviceSlot& slot = context.slot(device);
  OutOfMemoryReport report =
      slot.allocator->failure_report({0, state.streams.of(device), state.category, context.site()});
  report.message = std::string("CUDA out of memory. ") + error.what();
  if (slot.backend->on_out_of_memory) slot.backend->on_out_of_memory(report);
  throw OutOfMemory(std::move(report));
}

}  // namespace ohm::ops
