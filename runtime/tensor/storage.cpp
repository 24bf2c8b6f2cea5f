#include "runtime/tensor/storage.h"

#include "runtime/tensor/context.h"

namespace ohm {

IntrusivePtr<Storage> Storage::allocate(std::size_t bytes, Device device) {
  Context& context = Context::current();
  RequestAllocator* allocator = context.slot(device).allocator;
  IntrusivePtr<Storage> storage(new Storage());
  storage->allocation_ = allocator->allocate(
      {bytes, context.state.streams.of(device), context.state.category, context.site()});
  storage->allocator_ = allocator;
  storage->bytes_ = bytes;
  storage->device_ = device;
  return storage;
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
