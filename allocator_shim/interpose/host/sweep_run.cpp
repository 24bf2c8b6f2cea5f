#include "allocator_shim/interpose/host/sweep_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "allocator_shim/interpose/host/python_frames.h"
#include "allocator_shim/interpose/host/written_files.h"

namespace ohm::interpose::host {

namespace {

/// Far from where a program's own pages come to lie: these have the same addresses in each run,
/// however large the files are. Where one is taken, or there is none such, any other does.
constexpr std::uintptr_t kControlAddress = std::uintptr_t{0x2000} << 32U;
constexpr std::uintptr_t kTraceAddress = std::uintptr_t{0x2100} << 32U;
constexpr std::uintptr_t kLeftAddress = std::uintptr_t{0x2080} << 32U;

/// All of the file, shared; nullptr where that cannot be.
void* mapped(const char* folder, const char* name, std::uintptr_t hint, std::size_t& bytes) {
  const FixedPath path(folder, name);
  const int file = open(path.text(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status = {};
  fstat(file, &status);
  bytes = static_cast<std::size_t>(status.st_size);
  const long address = syscall(SYS_mmap, hint, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return address == -1 ? nullptr : reinterpret_cast<void*>(address);
}

}  // namespace

bool SweepRunner::start(const char* folder) {
  std::size_t bytes = 0;
  void* const control = mapped(folder, kControlFile, kControlAddress, bytes);
  if (control == nullptr || bytes < sizeof(SweepControl)) return false;
  std::size_t trace_bytes = 0;
  trace_ = static_cast<TracedRequest*>(mapped(folder, kTraceFile, kTraceAddress, trace_bytes));
  if (trace_ == nullptr || trace_bytes < kTracedRequests * sizeof(TracedRequest)) return false;
  control_ = static_cast<SweepControl*>(control);
  faults_ = {reinterpret_cast<SweptFault*>(control_ + 1), control_->fault_count};
  points_path_ = FixedPath(folder, kPointsFile);
  left_path_ = FixedPath(folder, kLeftFile);
  written_path_ = FixedPath(folder, kWrittenFile);
  frames_path_ = FixedPath(folder, kFramesFile);
  std::size_t left_bytes = 0;
  const void* const left = mapped(folder, kLeftFile, kLeftAddress, left_bytes);
  if (left != nullptr && !is_traced()) {
    expected_left_ = {static_cast<const SiteLeft*>(left), left_bytes / sizeof(SiteLeft)};
  }
  files_ = CopyFiles(folder);
  return true;
}

bool SweepRunner::fails(std::uint64_t number, PointHash point, std::uint64_t bytes) {
  if (is_over_) return has_failed_for_good_;
  switch (control_->run) {
    case SweepRun::trace:
      if (number <= kTracedRequests) trace_[number - 1] = {point, bytes};
      return false;
    case SweepRun::fork:
      compare(number, point);
      return fails_in_copies(number, point);
    case SweepRun::fail:
      if (number != faults_.front().request) return false;
      break;
  }
  SweptFault& fault = faults_.front();
  take_python_frames(frames_path_, fault.frames);
  is_over_ = true;
  fault_ = &fault;
  has_failed_for_good_ = fault.is_persistent != 0;
  fault.end = point == fault.point ? FaultEnd::ended : FaultEnd::other_point;
  return true;
}

void SweepRunner::compare(std::uint64_t number, PointHash point) {
  if (control_->first_difference != 0 || number > kTracedRequests) return;
  if (trace_[number - 1].point != point) control_->first_difference = number;
}

bool SweepRunner::fails_in_copies(std::uint64_t number, PointHash point) {
  for (; next_fault_ < faults_.size(); ++next_fault_) {
    SweptFault& fault = faults_[next_fault_];
    if (fault.request > number) return false;
    // A request that another thread's overtook is not there any more.
    if (fault.request < number) continue;
    if (fault.point != point) {
      fault.end = FaultEnd::other_point;
      continue;
    }
    take_python_frames(frames_path_, fault.frames);
    if (!fail_in_copy(files_, control_->copy_milliseconds, fault)) continue;
    is_over_ = true;
    is_copy_ = true;
    fault_ = &fault;
    has_failed_for_good_ = fault.is_persistent != 0;
    return true;
  }
  return false;
}

void SweepRunner::note_network(const char* host) {
  if (!is_traced() || has_network_host_.exchange(true)) return;
  // The last byte stays 0.
  const std::size_t bytes = std::min(std::strlen(host), kHostNameBytes - 1);
  std::memcpy(control_->network_host.data(), host, bytes);
}

void SweepRunner::note_file(const char* letters, const char* path) {
  if (is_copy_) fault_->writes_files = 1;
  if (is_copy_ || control_->run != SweepRun::fork) add_written_file(written_path_, letters, path);
}

void SweepRunner::end(std::uint64_t requests) {
  if (is_copy_) return;
  control_->requests = requests;
  control_->has_ended = 1;
}

}  // namespace ohm::interpose::host
