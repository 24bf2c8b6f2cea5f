#include "allocator_shim/interpose/known_values.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "allocator_shim/interpose/exported.h"

namespace ohm::interpose {
namespace {

/// Of the largest number that a program reads: a complex one of two doubles.
constexpr std::size_t kNumberBytes = 16;

/// Disjoint ranges of addresses that do not touch.
class RangeSet {
 public:
  void add(std::uintptr_t begin, std::uintptr_t end) {
    auto next = ranges_.upper_bound(begin);
    if (next != ranges_.begin() && std::prev(next)->second >= begin) --next;
    while (next != ranges_.end() && next->first <= end) {
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      next = ranges_.erase(next);
    }
    ranges_.emplace(begin, end);
  }

  void remove(std::uintptr_t begin, std::uintptr_t end) {
    auto next = ranges_.upper_bound(begin);
    if (next != ranges_.begin() && std::prev(next)->second > begin) --next;
    while (next != ranges_.end() && next->first < end) {
      const auto [first, last] = *next;
      next = ranges_.erase(next);
      if (first < begin) ranges_.emplace(first, begin);
      if (last > end) ranges_.emplace(end, last);
    }
  }

  bool contains(std::uintptr_t begin, std::uintptr_t end) const {
    const auto next = ranges_.upper_bound(begin);
    return next != ranges_.begin() && std::prev(next)->second >= end;
  }

 private:
  std::map<std::uintptr_t, std::uintptr_t> ranges_;
};

/// Never destroyed: libraries free memory while a process ends.
struct KnownValues {
  std::mutex mutex;
  RangeSet ranges;
  std::atomic<bool> computes_all = false;
  std::atomic<bool> has_any = false;  ///< saves the lock where nothing was ever known
  std::atomic<ReadFollower> follower = nullptr;
};

KnownValues& known() {
  static auto* const values = new KnownValues;  // NOLINT(cppcoreguidelines-owning-memory)
  return *values;
}

thread_local std::vector<std::int64_t> answers;
thread_local std::size_t next_answer = 0;

std::uintptr_t number_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

template <class Integer>
void write_answer(void* to, std::size_t bytes) {
  for (std::size_t offset = 0; offset < bytes; offset += sizeof(Integer)) {
    const auto answer = static_cast<Integer>(answers[next_answer]);
    std::memcpy(static_cast<std::byte*>(to) + offset, &answer, sizeof(answer));
    next_answer = std::min(next_answer + 1, answers.size() - 1);
  }
}

/// Counts are integers of 4 or 8 bytes, of which an operator reads one at a time; a single byte is
/// a check that holds.
bool answer(void* to, std::size_t bytes) {
  if (answers.empty()) return false;
  switch (bytes) {
    case sizeof(bool):
      *static_cast<bool*>(to) = true;
      return true;
    case sizeof(std::int32_t):
      write_answer<std::int32_t>(to, bytes);
      return true;
    case sizeof(std::int64_t):
      write_answer<std::int64_t>(to, bytes);
      return true;
    default:
      return false;
  }
}

void mark_known(const void* address, std::size_t bytes) {
  if (bytes == 0) return;
  const std::scoped_lock lock(known().mutex);
  known().ranges.add(number_of(address), number_of(address) + bytes);
  known().has_any.store(true, std::memory_order_release);
}

void mark_unknown(const void* address, std::size_t bytes) {
  if (bytes == 0 || !known().has_any.load(std::memory_order_acquire)) return;
  const std::scoped_lock lock(known().mutex);
  known().ranges.remove(number_of(address), number_of(address) + bytes);
}

}  // namespace

bool is_known(const void* address, std::size_t bytes) {
  if (bytes == 0) return true;
  if (!known().has_any.load(std::memory_order_acquire)) return false;
  const std::scoped_lock lock(known().mutex);
  return known().ranges.contains(number_of(address), number_of(address) + bytes);
}

void mark_written(const void* address, std::size_t bytes, bool is_known_now) {
  if (is_known_now) {
    mark_known(address, bytes);
  } else {
    mark_unknown(address, bytes);
  }
}

bool are_values_followed() { return known().follower != nullptr || computes_values(); }

bool computes_values() { return known().computes_all.load(std::memory_order_relaxed); }

void mark_new_block(const void* address, std::size_t bytes) {
  mark_written(address, bytes, computes_values());
}

void follow_read(void* to, const void* from, std::size_t bytes) {
  if (answer(to, bytes) || is_known(from, bytes)) return;
  const ReadFollower follower = known().follower.load(std::memory_order_acquire);
  if (follower == nullptr) return;
  if (bytes <= kNumberBytes && !computes_values()) std::memset(to, 0, bytes);
  follower(from, bytes);
}

}  // namespace ohm::interpose

OHM_EXPORTED void ohm_mark_known(const void* address, std::size_t bytes) {
  ohm::interpose::mark_known(address, bytes);
}

OHM_EXPORTED void ohm_mark_unknown(const void* address, std::size_t bytes) {
  ohm::interpose::mark_unknown(address, bytes);
}

OHM_EXPORTED void ohm_follow_unknown_reads(ohm::interpose::ReadFollower follower) {
  ohm::interpose::known().follower.store(follower, std::memory_order_release);
}

OHM_EXPORTED void ohm_answer_reads(const std::int64_t* values, int count) {
  ohm::interpose::answers.assign(values, values + count);
  ohm::interpose::next_answer = 0;
}

OHM_EXPORTED void ohm_end_answers() { ohm::interpose::answers.clear(); }

OHM_EXPORTED void ohm_compute_values() {
  ohm::interpose::known().computes_all.store(true, std::memory_order_relaxed);
}
