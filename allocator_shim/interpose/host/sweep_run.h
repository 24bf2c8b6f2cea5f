// The part of a process in a sweep of a command: requests are compared with those of the run
// without faults, and the faults that were chosen happen, in copies of the process or in itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "allocator_shim/interpose/host/host_settings.h"
#include "allocator_shim/interpose/host/process_copy.h"
#include "allocator_shim/interpose/host/process_settings.h"

namespace ohm::interpose::host {

class SweepRunner {
 public:
  /// False where the folder's files cannot be had.
  bool start(const char* folder);

  bool is_on() const { return control_ != nullptr; }
  bool is_traced() const { return is_on() && control_->run == SweepRun::trace; }
  /// Nothing fails any more that has not failed by now.
  bool is_over() const { return is_over_; }
  /// That happened in this process; nullptr: none did.
  SweptFault* fault() const { return fault_; }
  /// All requests fail from now on.
  bool has_failed_for_good() const { return has_failed_for_good_; }

  /// Whether the request is to fail, here: it may be a copy that returns. One thread at a time
  /// where there are copies: with several no copy is made.
  bool fails(std::uint64_t number, PointHash point, std::uint64_t bytes);

  /// A host beyond this machine that the process asks for; the first one is kept. Thread-safe.
  void note_network(const char* host);

  /// A file that the process writes.
  void note_file(const char* letters, const char* path);

  const FixedPath& points_path() const { return points_path_; }
  const FixedPath& left_path() const { return left_path_; }
  /// Of the run without faults; empty: not known.
  std::span<const SiteLeft> expected_left() const { return expected_left_; }
  void end(std::uint64_t requests);

 private:
  void compare(std::uint64_t number, PointHash point);
  bool fails_in_copies(std::uint64_t number, PointHash point);

  SweepControl* control_ = nullptr;
  std::span<SweptFault> faults_;
  TracedRequest* trace_ = nullptr;
  std::uint64_t next_fault_ = 0;
  bool is_over_ = false;  ///< here nothing fails any more
  bool is_copy_ = false;
  SweptFault* fault_ = nullptr;
  std::span<const SiteLeft> expected_left_;
  bool has_failed_for_good_ = false;
  std::atomic<bool> has_network_host_ = false;
  FixedPath points_path_;
  FixedPath left_path_;
  FixedPath written_path_;
  FixedPath frames_path_;
  CopyFiles files_;
};

}  // namespace ohm::interpose::host
