// The file of a program's record, which harness/exec/cuda_record.h reads.
//
// JSON; numbers stand without names where there may be many:
//
//     stacks   of each: pairs of a module, from 1, and an address; first that of CUDA's function
//     events   of each, oldest first: action, device, address, bytes, stack, whether by plan
//     blocks   of each that is alive: device, address, bytes, stack
//     segments of each: device, address, bytes
//     misuses  of each: kind, device, bytes, stacks (misuse, free, request), events before, times

#include <unistd.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "allocator_shim/interpose/device_record.h"
#include "allocator_shim/interpose/host/record_place.h"
#include "allocator_shim/interpose/host/record_writer.h"

namespace ohm::interpose {

namespace {

using host::RecordWriter;

/// Of a list of numbers in a member of its own.
class Numbers {
 public:
  Numbers(RecordWriter& out, std::string_view name) : out_(out) {
    out.text(",\"");
    out.text(name);
    out.text("\":[");
  }
  ~Numbers() { out_.text("]"); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  void add(std::initializer_list<std::uint64_t> row) {
    for (const std::uint64_t value : row) {
      if (!is_first_) out_.text(",");
      is_first_ = false;
      out_.number(static_cast<std::int64_t>(value));
    }
  }

 private:
  RecordWriter& out_;
  bool is_first_ = true;
};

std::uint64_t number_of(int device) { return static_cast<std::uint64_t>(device); }

void write_folder(RecordWriter& out) {
  std::array<char, 4096> folder = {};
  const char* const found = getcwd(folder.data(), folder.size());
  out.text(",\"folder\":");
  out.quoted(found == nullptr ? "" : found);
}

}  // namespace

void DeviceRecord::write() {
  RecordWriter().write(host::record_place, kDeviceRecordName,
                       [this](RecordWriter& out) { write_to(out); });
}

void DeviceRecord::write_to(RecordWriter& out) {
  out.text("{");
  out.program();
  write_folder(out);
  out.text(has_ended_ ? ",\"ended\":true" : ",\"ended\":false");
  out.member("signal", signal_);
  out.member("most_events", static_cast<std::int64_t>(most_events_));
  out.member("dropped", static_cast<std::int64_t>(event_count_ - events_.size()));
  write_devices(out);
  out.modules(sites_.modules());
  write_stacks(out);
  write_events(out);
  write_memory(out);
  write_misuses(out);
  out.text("}\n");
}

void DeviceRecord::write_devices(RecordWriter& out) const {
  out.text(",\"devices\":[");
  bool is_first = true;
  for (const DeviceCounters& counters : counters_) {
    out.text(is_first ? "{\"ooms\":" : ",{\"ooms\":");
    is_first = false;
    out.number(counters.ooms);
    out.member("capacity_bytes", static_cast<std::int64_t>(counters.capacity_bytes));
    out.member("allocated_bytes", counters.allocated_bytes);
    out.member("peak_allocated_bytes", counters.peak_allocated_bytes);
    out.member("peak_reserved_bytes", counters.peak_reserved_bytes);
    out.member("segments", counters.segments);
    out.text("}");
  }
  out.text("]");
}

void DeviceRecord::write_stacks(RecordWriter& out) {
  out.text(",\"stacks\":[");
  bool is_first = true;
  for (const host::Site& site : sites_.sites()) {
    out.text(is_first ? "{" : ",\n{");
    is_first = false;
    out.frames(sites_.frames_of(site));
    out.text("}");
  }
  out.text("]");
}

void DeviceRecord::write_events(RecordWriter& out) const {
  Numbers numbers(out, "events");
  const std::vector<DeviceEvent>& events = events_;
  const std::uint64_t oldest = event_count_ - events.size();
  for (std::uint64_t i = oldest; i < event_count_; ++i) {
    const DeviceEvent& event = events[i % most_events_];
    numbers.add({static_cast<std::uint64_t>(event.action), event.device, event.address, event.bytes,
                 event.site, static_cast<std::uint64_t>(event.why)});
  }
}

void DeviceRecord::write_memory(RecordWriter& out) const {
  {
    Numbers blocks(out, "blocks");
    for (const auto& [address, block] : live_) {
      blocks.add({number_of(block.device), address, block.bytes, block.site});
    }
  }
  Numbers segments(out, "segments");
  for (const auto& [address, segment] : segments_) {
    segments.add({number_of(segment.device), address, segment.bytes});
  }
}

void DeviceRecord::write_misuses(RecordWriter& out) const {
  Numbers numbers(out, "misuses");
  for (const auto& [place, misuse] : misuses_) {
    const auto& [kind, sites] = place;
    numbers.add({static_cast<std::uint64_t>(kind), number_of(misuse.block.device),
                 misuse.block.bytes, sites[0], sites[1], sites[2], misuse.event, misuse.times});
  }
}

}  // namespace ohm::interpose
