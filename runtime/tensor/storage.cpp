#include "runtime/tensor/storage.h"

#include <stdexcept>

#include "allocator_shim/device/pinned_host_allocator.h"
#include "runtime/tensor/context.h"

namespace ohm {

IntrusivePtr<Storage> Storage::from(RequestAllocator* allocator, std::size_t bytes, Device device) {
  Context& context = Context::current();
  IntrusivePtr<Storage> storage(new Storage());
  storage->allocation_ = allocator->allocate(
      {bytes, context.state.streams.of(device), context.state.category, context.site()});
  storage->allocator_ = allocator;
  storage->bytes_ = bytes;
  storage->device_ = device;
  return storage;
}

IntrusivePtr<Storage> Storage::allocate(std::size_t bytes, Device device) {
  return from(Context::current().slot(device).allocator, bytes, device);
}

IntrusivePtr<Storage> Storage::allocate_pinned(std::size_t bytes) {
  const Context& context = Context::current();
  if (context.pinned == nullptr || context.gpus.empty()) {
    throw std::invalid_argument("[pin_memory] there is no GPU that memory could be pinned for");
  }
  return from(context.pinned, bytes, Device::cpu());
}

bool Storage::is_pinned() const {
  return allocator_ != nullptr && allocator_ == Context::current().pinned;
}

void Storage::record_copy(Device gpu) {
  if (!is_pinned()) return;
  Context& context = Context::current();
  context.pinned->record_use(allocation_.block, *context.slot(gpu).streams,
                             context.state.streams.of(gpu));
}

void Storage::destroy(Storage* storage) { delete storage; }

Storage::~Storage() {
  if (allocation_.block != nullptr) allocator_->free(allocation_.block);
}

void Storage::set_category(Category category) {
  if (allocation_.block != nullptr) allocator_->set_category(allocation_.block, category);
}

void Storage::record_stream(StreamId stream) {
  if (allocation_.block != nullptr) allocator_->record_stream(allocation_.block, stream);
}

}  // namespace ohm
