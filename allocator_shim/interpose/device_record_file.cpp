#include "allocator_shim/interpose/device_record_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

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

}  // namespace

void DeviceRecordFile::write(const host::RecordPlace& place) {
  RecordWriter().write(place, kDeviceRecordName, [this](RecordWriter& out) { write_to(out); });
}

void DeviceRecordFile::write_to(RecordWriter& out) {
  out.text("{");
  out.program();
  write_folder(out);
  out.text(record_.has_ended_ ? ",\"ended\":true" : ",\"ended\":false");
  out.member("signal", record_.signal_);
  out.member("most_events", static_cast<std::int64_t>(record_.most_events_));
  out.member("dropped", static_cast<std::int64_t>(record_.event_count_ - record_.events_.size()));
  write_devices(out);
  out.modules(record_.sites_.modules());
  write_stacks(out);
  write_events(out);
  write_memory(out);
  write_misuses(out);
  out.text("}\n");
}

void DeviceRecordFile::write_folder(RecordWriter& out) const {
  std::array<char, 4096> folder = {};
  const char* const found = getcwd(folder.data(), folder.size());
  out.text(",\"folder\":");
  out.quoted(found == nullptr ? "" : found);
}

void DeviceRecordFile::write_devices(RecordWriter& out) const {
  out.text(",\"devices\":[");
  bool is_first = true;
  for (const DeviceCounters& counters : record_.counters_) {
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

void DeviceRecordFile::write_stacks(RecordWriter& out) {
  out.text(",\"stacks\":[");
  bool is_first = true;
  for (const host::Site& site : record_.sites_.sites()) {
    out.text(is_first ? "{" : ",\n{");
    is_first = false;
    out.frames(record_.sites_.frames_of(site));
    out.text("}");
  }
  out.text("]");
}

void DeviceRecordFile::write_events(RecordWriter& out) const {
  Numbers numbers(out, "events");
  const std::vector<DeviceEvent>& events = record_.events_;
  const std::uint64_t oldest = record_.event_count_ - events.size();
  for (std::uint64_t i = oldest; i < record_.event_count_; ++i) {
    const DeviceEvent& event = events[i % record_.most_events_];
    numbers.add({static_cast<std::uint64_t>(event.action), event.device, event.address, event.bytes,
                 event.site, static_cast<std::uint64_t>(event.why)});
  }
}

void DeviceRecordFile::write_memory(RecordWriter& out) const {
  {
    Numbers blocks(out, "blocks");
    for (const auto& [address, block] : record_.live_) {
      blocks.add({number_of(block.device), address, block.bytes, block.site});
    }
  }
  Numbers segments(out, "segments");
  for (const auto& [address, segment] : record_.segments_) {
    segments.add({number_of(segment.device), address, segment.bytes});
  }
}

void DeviceRecordFile::write_misuses(RecordWriter& out) const {
  Numbers numbers(out, "misuses");
  for (const auto& [place, misuse] : record_.misuses_) {
    const auto& [kind, sites] = place;
    numbers.add({static_cast<std::uint64_t>(kind), number_of(misuse.block.device),
                 misuse.block.bytes, sites[0], sites[1], sites[2], misuse.event, misuse.times});
  }
}

}  // namespace ohm::interpose
