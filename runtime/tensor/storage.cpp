#include "runtime/tensor/storage.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "runtime/base/running_op.h"

namespace ohm {
namespace {

/// Reads values of the device, which the host waits for.
void read_device(const CudaBackend& backend, void* to, DeviceAddress from, std::size_t bytes) {
  if (backend.errors) backend.errors->check();
  backend.device->read(to, from, bytes);
  if (!backend.traffic) return;
  MovedValues& moved = backend.traffic->to_host[std::string(running_op())];
  ++moved.times;
  moved.bytes += static_cast<std::int64_t>(bytes);
}

}  // namespace

// The memory comes first: an error of the allocator then has nothing to clean up here.
IntrusivePtr<Storage> Storage::allocate(RequestAllocator& allocator,
                                        const AllocationRequest& request, Device device,
                                        const CudaBackend* backend) {
  const Allocation allocation = allocator.allocate(request);
  auto* const storage = new (std::nothrow) Storage();
  if (storage == nullptr) {
    if (allocation.block != nullptr) allocator.free(allocation.block);
    throw std::bad_alloc();
  }
  storage->allocation_ = allocation;
  storage->allocator_ = &allocator;
  storage->bytes_ = request.bytes;
  storage->device_ = device;
  storage->has_values_ = allocation.values != nullptr;
  if (storage->has_values()) storage->backend_ = backend;
  return IntrusivePtr<Storage>(storage);
}

void Storage::destroy(Storage* storage) { delete storage; }

Storage::~Storage() {
  if (allocation_.block != nullptr) allocator_->free(allocation_.block);
}

// ---- two copies of values -----------------------------------------------------------------------

void Storage::use_on_host(bool to_write) {
  if (residency_ == Residency::device) {
    read_device(*backend_, host_copy(), address(), bytes_);
    residency_ = Residency::both;
  }
  if (to_write) residency_ = Residency::host;
}

DeviceAddress Storage::cuda_address(CudaAccess access) {
  if (residency_ == Residency::host && access != CudaAccess::overwrite) {
    backend_->device->write(address(), host_copy(), bytes_);
    residency_ = Residency::both;
  }
  if (access != CudaAccess::read) residency_ = Residency::device;
  return address();
}

void Storage::peek(void* to, std::size_t offset, std::size_t bytes) const {
  if (residency_ == Residency::device) {
    read_device(*backend_, to, address() + offset, bytes);
  } else {
    std::memcpy(to, host_copy() + offset, bytes);
  }
}

void Storage::copy_to_device(std::size_t offset, const Storage& from, std::size_t from_offset,
                             std::size_t bytes) {
  const bool is_all = offset == 0 && bytes == bytes_;
  const DeviceAddress to = cuda_address(is_all ? CudaAccess::overwrite : CudaAccess::write);
  if (from.residency_ == Residency::device || from.residency_ == Residency::both) {
    backend_->device->copy_from(*from.backend_->device, to + offset, from.address() + from_offset,
                                bytes);
  } else {
    backend_->device->write(to + offset, from.host_copy() + from_offset, bytes);
  }
}

void Storage::copy(Storage& to, std::size_t to_offset, Storage& from, std::size_t from_offset,
                   std::size_t bytes) {
  if (bytes == 0) return;
  if (to.backend_ != nullptr && &to != &from) {
    to.copy_to_device(to_offset, from, from_offset, bytes);
  } else if (&to == &from) {
    std::byte* const values = to.values();
    std::memmove(values + to_offset, values + from_offset, bytes);
  } else {
    from.peek(to.values() + to_offset, from_offset, bytes);
  }
}

// ---- blocks -------------------------------------------------------------------------------------

void Storage::set_category(Category category) {
  if (allocation_.block != nullptr) allocator_->set_category(allocation_.block, category);
}

void Storage::record_stream(StreamId stream) {
  if (allocation_.block != nullptr) allocator_->record_stream(allocation_.block, stream);
}

}  // namespace ohm
