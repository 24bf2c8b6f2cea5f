// What the record of a program without PyTorch is told of the GPUs.
#include "allocator_shim/interpose/device_record.h"
#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {

Status GpuSystem::not_granted(int device, std::size_t bytes, NotGranted why) {
  if (DeviceRecord* const record = DeviceRecord::of_process()) {
    // Where other processes leave no room for the context, nothing is free.
    const bool is_open = open(device) == Status::success;
    record->note_not_granted(device, bytes, is_open ? used(device).info().free_bytes : 0, why);
  }
  return Status::out_of_memory;
}

void GpuSystem::record_request(int device, DeviceAddress address, std::size_t bytes,
                               std::size_t segment_bytes) {
  DeviceRecord* const record = DeviceRecord::of_process();
  if (record == nullptr) return;
  const std::uint32_t site = record->site_of_call();
  if (segment_bytes > 0) record->add_segment(device, address, segment_bytes, site);
  record->add_block(device, address, bytes, site);
}

std::uint32_t GpuSystem::recorded_site() {
  DeviceRecord* const record = DeviceRecord::of_process();
  return record == nullptr ? 0 : record->site_of_call();
}

void GpuSystem::give_back(VirtualGpu& gpu, DeviceAddress address, std::size_t bytes,
                          std::uint32_t site) {
  gpu.free_segment(address, bytes);
  if (DeviceRecord* const record = DeviceRecord::of_process()) {
    record->remove_segment(address, site);
  }
}

Status GpuSystem::failed_free(DeviceAddress address) {
  if (DeviceRecord* const record = DeviceRecord::of_process()) record->note_failed_free(address);
  return Status::invalid_value;
}

}  // namespace ohm::interpose
