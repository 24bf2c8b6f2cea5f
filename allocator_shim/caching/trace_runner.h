// The runner of traces: each through the caching allocator on a virtual device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/caching/trace_file.h"
#include "allocator_shim/device/capacity_tracker.h"
#include "allocator_shim/device/device_memory_adaptor.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"
#include "allocator_shim/observe/event_record.h"

namespace ohm {

/// Counts the calls that reach a device, and numbers its segments and reservations in the order
/// they are made: addresses may come again, ordinals do not.
class CountingDevice final : public DeviceMemoryAdaptor {
 public:
  using DeviceMemoryAdaptor::DeviceMemoryAdaptor;

  struct Range {
    DeviceAddress address = 0;
    std::size_t bytes = 0;
    std::size_t ordinal = 0;
  };
  /// In order of their ordinals.
  const std::vector<Range>& ranges() const { return ranges_; }

  std::size_t segment_calls() const { return segment_calls_; }
  std::size_t failed_segment_calls() const { return failed_segment_calls_; }
  std::size_t free_calls() const { return free_calls_; }

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  void free_segment(DeviceAddress address, std::size_t bytes) override;
  DeviceAddress reserve_range(std::size_t bytes) override;

 private:
  std::vector<Range> ranges_;
  std::size_t segment_calls_ = 0;
  std::size_t failed_segment_calls_ = 0;
  std::size_t free_calls_ = 0;
};

/// Where a trace runs, when not on what its header says.
struct TraceRunOptions {
  std::optional<std::size_t> capacity_bytes;
  std::optional<std::string> settings;
  RuleSet rules = default_rule_set();
  /// set_per_process_memory_fraction() before everything else.
  std::optional<double> memory_fraction;
};

class TraceRunner {
 public:
  enum class Status : std::uint8_t {
    ok,
    out_of_memory,
    skipped  ///< names an allocation that had failed
  };
  struct Outcome {
    Status status = Status::ok;
    std::optional<DeviceAddress> address;  ///< of what was allocated
    std::string message;                   ///< when out of memory
  };

  /// Throws std::invalid_argument for settings that PyTorch refuses.
  explicit TraceRunner(const Trace& trace, const TraceRunOptions& options = {});

  /// Throws std::invalid_argument for an id that is unknown, or in use already.
  Outcome run(const TraceOperation& operation);

  CachingAllocator& allocator() { return allocator_; }
  const CachingAllocator& allocator() const { return allocator_; }
  const CountingDevice& device() const { return device_; }
  const CapacityTracker& tracker() const { return tracker_; }
  EventRecord& events() { return events_; }

 private:
  Outcome allocate(const TraceOperation& operation);
  Outcome with_block(const TraceOperation& operation);

  VirtualGpu gpu_;
  CapacityTracker tracker_;
  CountingDevice device_;
  VirtualStreams streams_;
  EventRecord events_;
  CachingAllocator allocator_;
  std::unordered_map<std::uint64_t, std::optional<BlockHandle>> blocks_;  ///< nullopt: had failed
};

}  // namespace ohm
