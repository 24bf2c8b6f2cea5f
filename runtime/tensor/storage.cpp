#include "runtime/tensor/storage.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "allocator_shim/device/pinned_host_allocator.h"
#include "runtime/tensor/card_backend.h"
#include "runtime/tensor/context.h"

namespace ohm {
namespace {

void note_moved(const CardBackend& card, std::size_t bytes) {
  if (!card.traffic) return;
  MovedValues& moved = card.traffic->to_host[std::string(Context::current().state.op)];
  ++moved.times;
  moved.bytes += static_cast<std::int64_t>(bytes);
}

}  // namespace

// The memory comes first: an error of the allocator then has nothing to clean up here.
IntrusivePtr<Storage> Storage::from(RequestAllocator* allocator, std::size_t bytes, Device device) {
  Context& context = Context::current();
  const Allocation allocation =
      allocator->allocate({bytes, context.state.streams.of(device), context.state.category,
                           context.site(), context.state.purpose});
  auto* const storage = new (std::nothrow) Storage();
  if (storage == nullptr) {
    if (allocation.block != nullptr) allocator->free(allocation.block);
    throw std::bad_alloc();
  }
  storage->allocation_ = allocation;
  storage->allocator_ = allocator;
  storage->bytes_ = bytes;
  storage->device_ = device;
  return IntrusivePtr<Storage>(storage);
}

IntrusivePtr<Storage> Storage::allocate(std::size_t bytes, Device device) {
  const DeviceSlot& slot = Context::current().slot(device);
  IntrusivePtr<Storage> storage = from(slot.allocator, bytes, device);
  if (storage->has_values()) storage->card_ = slot.card;
  return storage;
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

// ---- two copies of values -----------------------------------------------------------------------

void Storage::use_on_host(bool to_write) {
  if (residency_ == Residency::card) {
    card_->card->read(host_copy(), address(), bytes_);
    residency_ = Residency::both;
    note_moved(*card_, bytes_);
  }
  if (to_write) residency_ = Residency::host;
}

DeviceAddress Storage::card_address(CardAccess access) {
  if (residency_ == Residency::host && access != CardAccess::overwrite) {
    card_->card->write(address(), host_copy(), bytes_);
    residency_ = Residency::both;
  }
  if (access != CardAccess::read) residency_ = Residency::card;
  return address();
}

void Storage::peek(void* to, std::size_t offset, std::size_t bytes) const {
  if (residency_ == Residency::card) {
    card_->card->read(to, address() + offset, bytes);
  } else {
    std::memcpy(to, host_copy() + offset, bytes);
  }
}

void Storage::copy_to_card(std::size_t offset, const Storage& from, std::size_t from_offset,
                           std::size_t bytes) {
  const bool is_all = offset == 0 && bytes == bytes_;
  const DeviceAddress to = card_address(is_all ? CardAccess::overwrite : CardAccess::write);
  if (from.residency_ == Residency::card || from.residency_ == Residency::both) {
    card_->card->copy_from(*from.card_->card, to + offset, from.address() + from_offset, bytes);
  } else {
    card_->card->write(to + offset, from.host_copy() + from_offset, bytes);
  }
}

void Storage::copy(Storage& to, std::size_t to_offset, Storage& from, std::size_t from_offset,
                   std::size_t bytes) {
  if (bytes == 0) return;
  if (to.card_ != nullptr && &to != &from) {
    to.copy_to_card(to_offset, from, from_offset, bytes);
  } else if (&to == &from) {
    std::byte* const values = to.values();
    std::memmove(values + to_offset, values + from_offset, bytes);
  } else {
    from.peek(to.values() + to_offset, from_offset, bytes);
  }
}

void Storage::set_category(Category category) {
  if (allocation_.block != nullptr) allocator_->set_category(allocation_.block, category);
}

void Storage::record_stream(StreamId stream) {
  if (allocation_.block != nullptr) allocator_->record_stream(allocation_.block, stream);
}

}  // namespace ohm
