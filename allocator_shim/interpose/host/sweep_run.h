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
  bool needs_stacks() const { return is_on() && control_->run != SweepRun::fail; }
  /// Of which requests fails() has to be asked.
  bool wants_stack_of(std::uint64_t number) const;
  /// All requests fail from now on.
  bool has_failed_for_good() const { return has_failed_for_good_; }

  /// Whether the request is to fail, here: it may be a copy that returns. One thread at a time
  /// where there are copies: with several no copy is made.
  bool fails(std::uint64_t number, PointHash point, std::uint64_t bytes);

  /// A host beyond this machine that the process asks for; the first one is kept. Thread-safe.
  void note_network(const char* host);

  const FixedPath& points_path() const { return points_path_; }
  void end(std::uint64_t requests);

 private:
  void compare(std::uint64_t number, PointHash point);
  bool fails_in_copies(std::uint64_t number, PointHash point);

  SweepControl* control_ = nullptr;
  std::span<SweptFault> faults_;
  TracedRequest* trace_ = nullptr;
  std::uint64_t next_fault_ = 0;
  bool is_over_ = false;  ///< here nothing fails any more
  bool has_failed_for_good_ = false;
  std::atomic<bool> has_network_host_ = false;
  FixedPath points_path_;
  CopyFiles files_;
};

}  // namespace ohm::interpose::host
