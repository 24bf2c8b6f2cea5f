// The watch over each request of the process for host memory, beside making it: the request is
// counted, fails where a fault plan, a limit or a sweep wants it to, and is recorded.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/host/live_blocks.h"
#include "allocator_shim/interpose/host/process_settings.h"
#include "allocator_shim/interpose/host/record_file.h"
#include "allocator_shim/interpose/host/site_table.h"
#include "allocator_shim/interpose/host/sweep_run.h"

namespace ohm::interpose::host {

/// What becomes of a request.
enum class Stage : std::uint8_t {
  start_up,  ///< the allocator behind the library is not known yet
  idle,      ///< it goes straight on: the library is not ready, or nothing is asked of it
  watched,
};

extern std::atomic<Stage> stage;  // NOLINT(bugprone-dynamic-static-initializers): constinit there

/// The thread is in the library, or in the allocator behind it: what it asks for there, and what a
/// signal's handler asks for meanwhile, is not the program's. One guard at a time for a thread;
/// errno is as before when it ends.
class Inside {
 public:
  Inside();
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  static bool is_entered();

  /// What errno is to be then.
  void set_error(int error) { errno_ = error; }

 private:
  int errno_;
};

/// What a request is known by until its memory is there.
struct Request {
  std::uint64_t bytes = 0;
  std::uint64_t given_back = 0;  ///< of the block that a realloc replaces
  std::uint32_t site = kNoSite;
};

/// Of the process. Thread-safe; every function is called inside (Inside).
class Watch {
 public:
  /// Once. False where nothing is to be done, or nothing can.
  bool start(const ProcessSettings& settings, char** environment);

  /// Counts the request; whether it is to fail.
  bool refuses(Request& request);
  /// What is alive is known: frees have to be told.
  bool has_live() const { return records_; }

  void add_block(const void* block, const Request& request);
  /// Of a block that is alive; 0: it is not known.
  std::uint64_t bytes_of(const void* block);
  bool take_block(const void* block, LiveBlock& taken);
  /// A block that was taken is as it was.
  void put_back(const LiveBlock& block);
  void add_range(const void* begin, const Request& request);
  void take_ranges(const void* begin, std::uint64_t bytes);
  /// What was memory of `old` is now at `begin`, with the request's size and where it came from.
  void move_ranges(const void* old, std::uint64_t old_bytes, const void* begin,
                   const Request& request);

  /// Files that it writes are to be told.
  bool notes_files() const { return sweep_.is_on(); }
  /// It has created this file, or opened it for writing (written_files.h).
  void note_file(const char* letters, const char* path) { sweep_.note_file(letters, path); }
  /// The process asks for a host beyond this machine.
  void note_network(const char* host) { sweep_.note_network(host); }

  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();
  /// Writes down what was seen, where this is still the process that it was seen in.
  void end();
  /// The same in a signal's handler, where nothing else changes what was seen just then.
  void end_by_signal();

 private:
  void end_sweep();
  bool is_limited(const Request& request) const;
  bool is_planned(std::uint64_t bytes);
  bool is_planned_at(PointHash point);
  void note_failure(Refusal why, std::uint64_t number, const Request& request);
  void change(std::uint32_t site, std::int64_t bytes, std::int64_t blocks);
  void write_record(bool has_ended);
  RecordedProcess recorded(bool has_ended);

  ProcessSettings settings_;
  bool needs_stacks_ = false;
  bool records_ = false;
  bool has_ended_ = false;
  /// Where the heap ended when the watch began, inverted: it is not to lead to a block.
  std::uintptr_t hidden_heap_end_ = 0;
  std::uint32_t failed_site_ = 0;     ///< of the request that a sweep failed
  std::uint32_t sites_at_fault_ = 0;  ///< call stacks that were known then
  int pid_ = 0;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> planned_requests_ = 0;  ///< of these: large enough for the plan
  std::uint64_t failed_ = 0;
  std::int64_t live_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::uint64_t peak_number_ = 0;
  Failure failure_;
  SiteTable sites_;
  LiveBlocks blocks_;
  LiveRanges ranges_;
  SweepRunner sweep_;
};

extern Watch watch;  // NOLINT(bugprone-dynamic-static-initializers): constinit there

}  // namespace ohm::interpose::host
