#include "allocator_shim/interpose/work_in_flight.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/gpu_variable.h"
#include "allocator_shim/interpose/objects.h"

namespace ohm::interpose {

std::size_t calls_in_flight = 0;

namespace in_flight {
namespace {

/// What comes later than this step waits for `other`.
struct Dependency {
  std::uint64_t step = 0;
  WorkPoint other;
};

/// How a stream is ordered with others of its GPU: the legacy default one with blocking ones.
enum class Ordering : std::uint8_t { legacy, blocking, free };

/// The work of a stream.
struct Line {
  int device = 0;
  Ordering ordering = Ordering::free;
  std::uint64_t steps = 0;      ///< pieces of work, and waits
  std::uint64_t calls = 0;      ///< that were made on it
  std::uint64_t last_work = 0;  ///< the last of them that was work
  std::uint64_t done_step = 0;  ///< complete up to here, as was found out
  std::uint64_t done_call = 0;
  std::vector<Dependency> dependencies;
};

// Keys of lines: a stream that was created has its own number.
constexpr std::uint64_t kLegacyLines = std::uint64_t{1} << 62U;     // and the GPU
constexpr std::uint64_t kPerThreadLines = std::uint64_t{1} << 63U;  // the thread, and the GPU
constexpr std::uint64_t kMostDevices = 256;

std::mutex lock;
std::unordered_map<std::uint64_t, Line>& lines() {
  static auto* const all = new std::unordered_map<std::uint64_t, Line>;
  return *all;
}

std::uint64_t number_of_thread() {
  static std::atomic<std::uint64_t> threads = 0;
  thread_local const std::uint64_t number = ++threads;
  return number;
}

std::uint64_t key_of(const Stream* stream) {
  const auto device = static_cast<std::uint64_t>(gpus().current());
  if (is_legacy(stream)) return kLegacyLines + device;
  if (is_default(stream)) return kPerThreadLines + number_of_thread() * kMostDevices + device;
  return stream->id;
}

Line made_line(const Stream* stream) {
  constexpr unsigned kNonBlocking = 1;
  Line line;
  line.device = is_default(stream) ? gpus().current() : stream->device;
  const bool is_free = !is_default(stream) && (stream->flags & kNonBlocking) != 0;
  line.ordering = is_free ? Ordering::free : Ordering::blocking;
  if (is_legacy(stream)) line.ordering = Ordering::legacy;
  return line;
}

Line& line_of(const Stream* stream) {
  const std::uint64_t key = key_of(stream);
  const auto found = lines().find(key);
  if (found != lines().end()) return found->second;
  return lines().emplace(key, made_line(stream)).first->second;
}

/// nullptr: of a stream that is gone, or of none.
Line* find_line(std::uint64_t key) {
  const auto found = lines().find(key);
  return found == lines().end() ? nullptr : &found->second;
}

void note_done(Line& line, const WorkPoint& point) {
  line.done_step = std::max(line.done_step, point.step);
  line.done_call = std::max(line.done_call, point.call);
}

/// What a point depends on was launched before it: this ends. What is found is kept, so that it
/// takes no time to speak of.
bool is_complete(const WorkPoint& point) {
  Line* const line = find_line(point.line);
  if (line == nullptr || point.step <= line->done_step) return true;
  const bool is_new = point.call > line->done_call && line->calls - point.call < calls_in_flight;
  if (is_new) return false;
  const bool is_done = std::all_of(
      line->dependencies.begin(), line->dependencies.end(), [&](const Dependency& dependency) {
        return dependency.step > point.step || is_complete(dependency.other);
      });
  if (is_done) note_done(*line, point);
  return is_done;
}

/// One more call is made on all that the point waits for.
void advance(const WorkPoint& point) {
  Line* const line = find_line(point.line);
  if (line == nullptr || is_complete(point)) return;
  for (const Dependency& dependency : line->dependencies) {
    if (dependency.step <= point.step) advance(dependency.other);
  }
  ++line->calls;
}

bool ask(const WorkPoint& point) {
  if (is_complete(point)) return true;
  advance(point);
  return false;
}

void complete(const WorkPoint& point) {
  Line* const line = find_line(point.line);
  if (line == nullptr || point.step <= line->done_step) return;
  note_done(*line, point);
  for (const Dependency& dependency : line->dependencies) {
    if (dependency.step <= point.step) complete(dependency.other);
  }
}

/// From now on.
void depend(Line& line, const WorkPoint& other) {
  std::erase_if(line.dependencies,
                [](const Dependency& known) { return is_complete(known.other); });
  const bool is_known =
      std::any_of(line.dependencies.begin(), line.dependencies.end(), [&](const Dependency& known) {
        return known.other.line == other.line && known.other.step >= other.step;
      });
  if (!is_known && !is_complete(other)) line.dependencies.push_back({++line.steps, other});
}

WorkPoint end_of(std::uint64_t key, const Line& line) { return {key, line.steps, line.last_work}; }

void order_with_legacy(Line& line) {
  if (line.ordering == Ordering::free) return;
  if (line.ordering == Ordering::blocking) {
    const std::uint64_t key = kLegacyLines + static_cast<std::uint64_t>(line.device);
    if (const Line* const legacy = find_line(key)) depend(line, end_of(key, *legacy));
    return;
  }
  for (const auto& [key, other] : lines()) {
    const bool is_before = other.ordering == Ordering::blocking && other.device == line.device;
    if (is_before) depend(line, end_of(key, other));
  }
}

/// All that was launched on a stream.
WorkPoint end_of(const Stream* stream) {
  Line& line = line_of(stream);
  order_with_legacy(line);
  return end_of(key_of(stream), line);
}

[[gnu::constructor]] void read_calls_in_flight() {
  const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  const bool is_blocking = blocking != nullptr && *blocking != '\0' && *blocking != '0';
  const char* const text = std::getenv(kInFlightVariable);
  if (text == nullptr || is_blocking) return;
  const std::string_view number = text;
  std::from_chars(number.data(), number.data() + number.size(), calls_in_flight);
}

}  // namespace

void launch(const Stream* stream) {
  const std::lock_guard guard(lock);
  Line& line = line_of(stream);
  order_with_legacy(line);
  ++line.steps;
  line.last_work = ++line.calls;
}

void record(Event& event, const Stream* stream) {
  const std::lock_guard guard(lock);
  event.point = end_of(stream);
}

void forget_record(Event& event) {
  const std::lock_guard guard(lock);
  event.point = {};
}

void order(const Stream* stream, const Event& event) {
  const std::lock_guard guard(lock);
  depend(line_of(stream), event.point);
}

bool has_finished(const Stream* stream) {
  const std::lock_guard guard(lock);
  return ask(end_of(stream));
}

bool has_finished(const Event& event) {
  const std::lock_guard guard(lock);
  return ask(event.point);
}

void wait_for(const Stream* stream) {
  const std::lock_guard guard(lock);
  complete(end_of(stream));
}

void wait_for(const Event& event) {
  const std::lock_guard guard(lock);
  complete(event.point);
}

void wait_for_device(int device) {
  const std::lock_guard guard(lock);
  for (const auto& [key, line] : lines()) {
    if (line.device == device) complete(end_of(key, line));
  }
}

void forget(const Stream* stream) {
  const std::lock_guard guard(lock);
  if (!is_default(stream)) lines().erase(stream->id);
}

}  // namespace in_flight

Status free_when_finished(DeviceAddress address) {
  if (calls_in_flight > 0 && address != 0) {
    const auto range = gpus().find(address);
    in_flight::wait_for_device(range ? range->device : gpus().current());
  }
  return gpus().free(address);
}

}  // namespace ohm::interpose
