#include "runtime/tensor/allocation.h"

#include <stdexcept>

#include "runtime/tensor/context.h"

namespace ohm {
namespace {

IntrusivePtr<Storage> allocate_from(RequestAllocator& allocator, std::size_t bytes, Device device,
                                    const CudaBackend* backend) {
  Context& context = Context::current();
  return Storage::allocate(allocator,
                           {bytes, context.state.streams.of(device), context.state.category,
                            context.site(), context.state.purpose},
                           device, backend);
}

}  // namespace

IntrusivePtr<Storage> allocate_storage(std::size_t bytes, Device device) {
  const DeviceSlot& slot = Context::current().slot(device);
  return allocate_from(*slot.allocator, bytes, device, slot.backend);
}

IntrusivePtr<Storage> allocate_pinned_storage(std::size_t bytes) {
  const Context& context = Context::current();
  if (context.pinned == nullptr || context.gpus.empty()) {
    throw std::invalid_argument("[pin_memory] there is no GPU that memory could be pinned for");
  }
  return allocate_from(*context.pinned, bytes, Device::cpu(), nullptr);
}

bool is_pinned(const Storage& storage) {
  return storage.allocator() != nullptr && storage.allocator() == Context::current().pinned;
}

void record_copy(const Storage& storage, Device gpu) {
  if (!is_pinned(storage)) return;
  Context& context = Context::current();
  context.pinned->record_use(storage.block(), *context.slot(gpu).streams,
                             context.state.streams.of(gpu));
}

}  // namespace ohm
