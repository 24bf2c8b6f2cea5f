#include "allocator_shim/interpose/device_record.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>

#include "allocator_shim/device/address_space.h"
#include "allocator_shim/interpose/address_ranges.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/host/call_stack.h"
#include "allocator_shim/interpose/host/record_place.h"

namespace ohm::interpose {

std::atomic<DeviceRecord*> DeviceRecord::current = nullptr;
std::atomic<bool> DeviceRecord::is_abandoned = false;

namespace {

/// Others may still free what they hold when this library has been finished: so many events are
/// written again, each time.
constexpr std::uint64_t kMostRewrittenEvents = 20'000;
constexpr std::size_t kBlockUnit = 512;
/// That snapshots can tell of: programs may request any number.
constexpr std::size_t kMostBytes = ~std::size_t{0} >> 1U;

std::size_t in_units(std::size_t bytes) {
  return (bytes + kBlockUnit - 1) / kBlockUnit * kBlockUnit;
}

class RecordLock {
 public:
  explicit RecordLock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~RecordLock() { pthread_mutex_unlock(&mutex_); }
  RecordLock(const RecordLock&) = delete;
  RecordLock& operator=(const RecordLock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

std::size_t most_events() {
  const char* const value = std::getenv(kMostEventsVariable);
  const unsigned long long number = value == nullptr ? 0 : std::strtoull(value, nullptr, 10);
  return number == 0 ? kMostEvents : static_cast<std::size_t>(number);
}

void on_end_by_signal(int signal) {
  if (DeviceRecord* const record = DeviceRecord::of_process()) record->end_by(signal);
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  raise(signal);
}

/// What the program sees to itself is left to it. What nothing catches in C++ ends in SIGABRT.
void write_before_signals() {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGPIPE, SIGABRT, SIGSEGV,
                           SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction current = {};
    if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
    struct sigaction writing = {};
    writing.sa_handler = on_end_by_signal;
    writing.sa_flags = SA_ONSTACK;
    sigaction(signal, &writing, nullptr);
  }
}

[[gnu::destructor]] void end_record() {
  if (DeviceRecord* const record = DeviceRecord::of_process()) record->end();
}

}  // namespace

void DeviceRecord::start(const std::vector<std::uint64_t>& capacities) {
  const char* const folder = std::getenv(kDeviceRecordVariable);
  if (folder == nullptr || *folder == '\0' || is_abandoned) return;
  // It lives as long as the process: libraries free memory until its end.
  auto* const record = new DeviceRecord(folder, most_events());
  record->pid_ = getpid();
  for (const std::uint64_t bytes : capacities) {
    record->counters_.emplace_back().capacity_bytes = bytes;
  }
  current.store(record, std::memory_order_release);
}

void DeviceRecord::abandon() {
  is_abandoned = true;
  DeviceRecord* const record = current.exchange(nullptr);
  if (record == nullptr || !record->has_begun_) return;
  host::record_place.remove(host::RecordName(kDeviceRecordName, ".json").text());
}

/// A process that never asks a GPU for memory keeps nothing open.
void DeviceRecord::begin() {
  has_begun_ = true;
  host::record_place.open(folder_.c_str());
  sites_.prepare();
  write_before_signals();
}

std::uint32_t DeviceRecord::captured_site() {
  if (!has_begun_) begin();
  host::CallStack stack;
  stack.begins_with_entry = true;
  capture(stack);
  return sites_.index_of(stack);
}

std::uint32_t DeviceRecord::site_of_call() {
  const RecordLock lock(mutex_);
  return captured_site();
}

/// The first one tells of a process that is killed later.
void DeviceRecord::add(const DeviceEvent& event) {
  const std::size_t slot = event_count_ % most_events_;
  if (slot == events_.size()) {
    events_.push_back(event);
  } else {
    events_[slot] = event;
  }
  ++event_count_;
  const bool is_rewritten = has_ended_ && event_count_ <= kMostRewrittenEvents;
  if (event_count_ == 1 || is_rewritten) write();
}

void DeviceRecord::count(int device, std::int64_t DeviceCounters::*now,
                         std::int64_t DeviceCounters::*peak, std::int64_t bytes) {
  DeviceCounters& counters = counters_[static_cast<std::size_t>(device)];
  counters.*now += bytes;
  counters.*peak = std::max(counters.*peak, counters.*now);
}

void DeviceRecord::add_segment(int device, DeviceAddress address, std::size_t bytes,
                               std::uint32_t site) {
  const RecordLock lock(mutex_);
  segments_[address] = {bytes, 0, device};
  ++counters_[static_cast<std::size_t>(device)].segments;
  count(device, &DeviceCounters::reserved_bytes, &DeviceCounters::peak_reserved_bytes,
        static_cast<std::int64_t>(bytes));
  add({address, bytes, site, static_cast<std::uint8_t>(device), DeviceAction::segment_alloc});
}

void DeviceRecord::remove_segment(DeviceAddress address, std::uint32_t site) {
  const RecordLock lock(mutex_);
  const auto found = segments_.find(address);
  if (found == segments_.end()) return;
  const LiveDeviceBlock segment = found->second;
  segments_.erase(found);
  count(segment.device, &DeviceCounters::reserved_bytes, &DeviceCounters::peak_reserved_bytes,
        -static_cast<std::int64_t>(segment.bytes));
  add({address, segment.bytes, site, static_cast<std::uint8_t>(segment.device),
       DeviceAction::segment_free});
}

/// Addresses that are in use again tell nothing of what was there before.
void DeviceRecord::forget_freed(DeviceAddress address, std::size_t bytes) {
  const DeviceAddress end = address + in_units(bytes);
  auto next = freed_.lower_bound(address);
  if (next != freed_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.bytes > address) freed_.erase(before);
  }
  while (next != freed_.end() && next->first < end) next = freed_.erase(next);
}

void DeviceRecord::add_block(int device, DeviceAddress address, std::size_t bytes,
                             std::uint32_t site) {
  const RecordLock lock(mutex_);
  forget_freed(address, bytes);
  live_[address] = {bytes, site, device};
  count(device, &DeviceCounters::allocated_bytes, &DeviceCounters::peak_allocated_bytes,
        static_cast<std::int64_t>(in_units(bytes)));
  add({address, bytes, site, static_cast<std::uint8_t>(device), DeviceAction::alloc});
}

void DeviceRecord::remove_block(DeviceAddress address, std::uint32_t site) {
  const RecordLock lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  const LiveDeviceBlock block = found->second;
  live_.erase(found);
  freed_[address] = {block.bytes, block.site, site, block.device};
  count(block.device, &DeviceCounters::allocated_bytes, &DeviceCounters::peak_allocated_bytes,
        -static_cast<std::int64_t>(in_units(block.bytes)));
  add({address, block.bytes, site, static_cast<std::uint8_t>(block.device), DeviceAction::free});
}

void DeviceRecord::add_chunk(int device, const void* memory, std::size_t bytes) {
  const DeviceAddress address = next_chunk_;
  next_chunk_ += AddressSpace::round_up(bytes);
  chunks_[memory] = address;
  const std::uint32_t site = site_of_call();
  add_segment(device, address, bytes, site);
  add_block(device, address, bytes, site);
}

void DeviceRecord::remove_chunk(const void* memory) {
  const auto found = chunks_.find(memory);
  if (found == chunks_.end()) return;
  const std::uint32_t site = site_of_call();
  remove_block(found->second, site);
  remove_segment(found->second, site);
  chunks_.erase(found);
}

/// The program may not live to write it later.
void DeviceRecord::note_not_granted(int device, std::size_t bytes, std::size_t free_bytes,
                                    NotGranted why) {
  const RecordLock lock(mutex_);
  const bool is_first = counters_[static_cast<std::size_t>(device)].ooms++ == 0;
  add({free_bytes, std::min(bytes, kMostBytes), captured_site(), static_cast<std::uint8_t>(device),
       DeviceAction::out_of_memory, why});
  if (is_first) write();
}

void DeviceRecord::note_failed_free(DeviceAddress address) {
  const RecordLock lock(mutex_);
  const auto found = freed_.find(address);
  if (found != freed_.end()) note_misuse(Misuse::freed_again, found->second);
}

void DeviceRecord::note_failed_use(const void* pointer) {
  const auto address = reinterpret_cast<DeviceAddress>(pointer);
  const RecordLock lock(mutex_);
  const auto found = holder(freed_, address);
  if (found != freed_.end()) note_misuse(Misuse::used_after_free, found->second);
}

void DeviceRecord::note_misuse(Misuse kind, const FreedDeviceBlock& block) {
  DeviceMisuse& misuse = misuses_[{kind, {captured_site(), block.freed_at, block.site}}];
  if (misuse.times++ > 0) return;
  misuse.block = block;
  misuse.event = event_count_;
  if (has_ended_) write();
}

void DeviceRecord::end() {
  if (getpid() != pid_) return;
  const RecordLock lock(mutex_);
  has_ended_ = true;
  if (has_begun_) write();
}

void DeviceRecord::end_by(int signal) {
  // A thread that has the lock may be the one that the signal stopped.
  if (getpid() != pid_ || pthread_mutex_trylock(&mutex_) != 0) return;
  has_ended_ = true;
  signal_ = signal;
  write();
  pthread_mutex_unlock(&mutex_);
}

}  // namespace ohm::interpose

/// For a recorder that knows more of the process.
OHM_EXPORTED void ohm_end_record() { ohm::interpose::DeviceRecord::abandon(); }
