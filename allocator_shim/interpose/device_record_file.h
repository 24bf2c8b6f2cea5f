// The file of a program's record (device_record.h), which harness/exec/device_record.h reads.
//
// JSON; numbers stand without names where there may be many:
//
//     stacks   of each: pairs of a module, from 1, and an address; first that of CUDA's function
//     events   of each, oldest first: action, device, address, bytes, stack, whether by plan
//     blocks   of each that is alive: device, address, bytes, stack
//     segments of each: device, address, bytes
//     misuses  of each: kind, device, bytes, stacks (misuse, free, request), events before, times
#pragma once

#include "allocator_shim/interpose/device_record.h"
#include "allocator_shim/interpose/host/record_place.h"
#include "allocator_shim/interpose/host/record_writer.h"

namespace ohm::interpose {

inline constexpr const char* kDeviceRecordName = "cuda";

class DeviceRecordFile {
 public:
  /// Nothing of it changes meanwhile.
  explicit DeviceRecordFile(DeviceRecord& record) : record_(record) {}

  void write(const host::RecordPlace& place);

 private:
  void write_to(host::RecordWriter& out);
  void write_folder(host::RecordWriter& out) const;
  void write_devices(host::RecordWriter& out) const;
  void write_stacks(host::RecordWriter& out);
  void write_events(host::RecordWriter& out) const;
  void write_memory(host::RecordWriter& out) const;
  void write_misuses(host::RecordWriter& out) const;

  DeviceRecord& record_;
};

}  // namespace ohm::interpose
