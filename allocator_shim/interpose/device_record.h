// The record of a program without PyTorch: each request for GPU memory, and each misuse of a
// pointer, with the calls that led to it. PyTorch's own recorder ends it (ohm_end_record).
//
// Sizes of blocks are what was asked for, rounded up to 512 bytes, where a card's next block would
// begin; segments are what they take of the card. Managed memory counts in full for the GPU that
// was current, and memory of cuMemCreate, which has no address, has one of its own here.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/interpose/host/record_writer.h"
#include "allocator_shim/interpose/host/site_table.h"

namespace ohm::interpose {

/// A folder: each process that asks a GPU for memory leaves cuda-PID.json there.
inline constexpr const char* kDeviceRecordVariable = "OHM_DEVICE_RECORD";
/// Of its name.
inline constexpr const char* kDeviceRecordName = "cuda";
/// How many events are kept, the last ones; nothing: kMostEvents.
inline constexpr const char* kMostEventsVariable = "OHM_RECORD_EVENTS";
inline constexpr std::size_t kMostEvents = 200'000;

/// Why a request got nothing.
enum class NotGranted : std::uint8_t { by_card, by_plan };

/// As the file numbers them.
enum class DeviceAction : std::uint8_t { alloc, free, segment_alloc, segment_free, out_of_memory };

struct DeviceEvent {
  DeviceAddress address = 0;  ///< out_of_memory: the bytes that were free
  std::uint64_t bytes = 0;
  std::uint32_t site = 0;
  std::uint8_t device = 0;
  DeviceAction action = DeviceAction::alloc;
  NotGranted why = NotGranted::by_card;
};

struct LiveDeviceBlock {
  std::uint64_t bytes = 0;
  std::uint32_t site = 0;
  int device = 0;
};

/// A block that is gone, until its address is used again.
struct FreedDeviceBlock {
  std::uint64_t bytes = 0;
  std::uint32_t site = 0;
  std::uint32_t freed_at = 0;
  int device = 0;
};

enum class Misuse : std::uint8_t { freed_again, used_after_free };

/// What the program did to a block that it had freed, from one place.
struct DeviceMisuse {
  FreedDeviceBlock block;   ///< the first one
  std::uint64_t event = 0;  ///< events before the first time
  std::uint64_t times = 0;
};

struct DeviceCounters {
  std::uint64_t capacity_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
  std::int64_t segments = 0;  ///< obtained in all
  std::int64_t ooms = 0;
};

class DeviceRecord {
 public:
  /// Where the process is to be recorded, once. `capacities`: of the GPUs that it sees.
  static void start(const std::vector<std::uint64_t>& capacities);
  /// nullptr: nothing is recorded.
  static DeviceRecord* of_process() { return current.load(std::memory_order_acquire); }
  /// Nothing is recorded any more, or from the start, and no file is left.
  static void abandon();
  /// In a child of fork(): the record is its parent's.
  static void forget() { current.store(nullptr, std::memory_order_release); }

  /// The calls that led here. One capture, which costs more than all else, does for all that a call
  /// of the program does to segments and blocks.
  std::uint32_t site_of_call();
  void add_segment(int device, DeviceAddress address, std::size_t bytes, std::uint32_t site);
  void remove_segment(DeviceAddress address, std::uint32_t site);
  void add_block(int device, DeviceAddress address, std::size_t bytes, std::uint32_t site);
  void remove_block(DeviceAddress address, std::uint32_t site);
  void add_chunk(int device, const void* memory, std::size_t bytes);
  void remove_chunk(const void* memory);
  void note_not_granted(int device, std::size_t bytes, std::size_t free_bytes, NotGranted why);
  /// A free or a use that failed: of memory that was freed, it is a misuse.
  void note_failed_free(DeviceAddress address);
  void note_failed_use(const void* pointer);

  void end();
  /// In a signal's handler.
  void end_by(int signal);

 private:
  DeviceRecord(const char* folder, std::size_t most_events)
      : folder_(folder), most_events_(most_events) {}

  /// Beyond all memory: of chunks that have no address.
  static constexpr DeviceAddress kFirstChunk = DeviceAddress{1} << 52U;

  using Place = std::pair<Misuse, std::array<std::uint32_t, 3>>;

  std::uint32_t captured_site();
  void add(const DeviceEvent& event);
  void begin();
  void count(int device, std::int64_t DeviceCounters::*now, std::int64_t DeviceCounters::*peak,
             std::int64_t bytes);
  void forget_freed(DeviceAddress address, std::size_t bytes);
  void note_misuse(Misuse kind, const FreedDeviceBlock& block);
  // In device_record_file.cpp.
  void write();
  void write_to(host::RecordWriter& out);
  void write_devices(host::RecordWriter& out) const;
  void write_stacks(host::RecordWriter& out);
  void write_events(host::RecordWriter& out) const;
  void write_memory(host::RecordWriter& out) const;
  void write_misuses(host::RecordWriter& out) const;

  static std::atomic<DeviceRecord*> current;
  static std::atomic<bool> is_abandoned;

  std::string folder_;
  std::size_t most_events_;
  int pid_ = 0;
  int signal_ = 0;  ///< that ended the process; 0: none
  bool has_begun_ = false;
  bool has_ended_ = false;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  host::SiteTable sites_;
  std::vector<DeviceEvent> events_;  ///< a ring once it is full
  std::uint64_t event_count_ = 0;    ///< in all
  std::vector<DeviceCounters> counters_;
  std::map<DeviceAddress, LiveDeviceBlock> live_;
  std::map<DeviceAddress, LiveDeviceBlock> segments_;  ///< their sites mean nothing
  std::map<DeviceAddress, FreedDeviceBlock> freed_;
  std::map<const void*, DeviceAddress> chunks_;
  DeviceAddress next_chunk_ = kFirstChunk;
  std::map<Place, DeviceMisuse> misuses_;  ///< by the sites of the misuse, the free, the request
};

}  // namespace ohm::interpose
