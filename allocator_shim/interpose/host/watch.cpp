#include "allocator_shim/interpose/host/watch.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "allocator_shim/interpose/host/left_memory.h"
#include "allocator_shim/interpose/host/next_functions.h"

namespace ohm::interpose::host {

constinit std::atomic<Stage> stage = Stage::start_up;
// It lives as long as the process: requests come until its end.
constinit Watch watch;

namespace {

// In the thread's own part from the start: what is made for a thread later would be a request.
__attribute__((tls_model("initial-exec"))) thread_local bool is_inside = false;

class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Locked() { pthread_mutex_unlock(&mutex_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

/// What the allocator gives from now on comes behind it, on the heap. A block that is too large for
/// its lists of small ones leaves no trace there.
std::uintptr_t next_heap_address() {
  constexpr std::size_t kBytes = 4096;
  void* const block = next.malloc(kBytes);
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  next.free(block);
  return address;
}

/// The program would end by the signal without another word.
void on_termination(int signal) {
  {
    const Inside inside;
    watch.end_by_signal();
  }
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  raise(signal);
}

/// Of signals that ask a program to end, those that it does not see to by itself; one that it sees
/// to later takes the place of this.
void write_before_termination() {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGPIPE}) {
    struct sigaction current = {};
    if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
    struct sigaction writing = {};
    writing.sa_handler = on_termination;
    writing.sa_flags = SA_ONSTACK;
    sigaction(signal, &writing, nullptr);
  }
}

}  // namespace

Inside::Inside() : errno_(errno) { is_inside = true; }

Inside::~Inside() {
  is_inside = false;
  errno = errno_;
}

bool Inside::is_entered() { return is_inside; }

bool Watch::start(const ProcessSettings& settings, char** environment) {
  settings_ = settings;
  pid_ = getpid();
  if (settings.is_idle()) return false;
  if (settings.sweep_folder != nullptr) {
    if (!sweep_.start(settings.sweep_folder)) return false;
    hide_sweep(environment);
  }
  records_ = settings.record_folder != nullptr || settings.limit_bytes != 0 || sweep_.is_on();
  needs_stacks_ = records_ || settings.fault.has_point();
  hidden_heap_end_ = ~next_heap_address();
  if (needs_stacks_ && !sites_.prepare()) return false;
  if (records_ && (!blocks_.prepare() || !ranges_.prepare())) return false;
  if (settings.record_folder != nullptr) {
    record_place.open(settings.record_folder);
    write_record(false);
    write_before_termination();
  }
  return true;
}

bool Watch::is_limited(const Request& request) const {
  if (settings_.limit_bytes == 0) return false;
  const auto live = static_cast<std::uint64_t>(live_bytes_) - request.given_back;
  return live + request.bytes > settings_.limit_bytes || live + request.bytes < live;
}

bool Watch::is_planned(std::uint64_t bytes) {
  const HostFault& fault = settings_.fault;
  if (fault.is_none() || fault.has_point() || bytes < fault.least_bytes) return false;
  const std::uint64_t number = planned_requests_.fetch_add(1, std::memory_order_relaxed) + 1;
  return fault.is_hit(number);
}

/// From the point's first failure on, all requests fail where that is for good.
bool Watch::is_planned_at(PointHash point) {
  const HostFault& fault = settings_.fault;
  if (!fault.has_point()) return false;
  const bool is_for_good = fault.count == HostFault::kEndless && failed_ > 0;
  if (!fault.is_of(point)) return is_for_good;
  const std::uint64_t number = planned_requests_.fetch_add(1, std::memory_order_relaxed) + 1;
  return is_for_good || fault.is_hit(number);
}

bool Watch::refuses(Request& request) {
  const bool is_planned_now = is_planned(request.bytes);
  if (!needs_stacks_) return is_planned_now;
  const std::uint64_t number = requests_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (sweep_.has_failed_for_good()) return true;
  // Of a long run the first ones tell enough.
  constexpr std::uint64_t kMostStacksAfterFault = 10000;
  const SweptFault* const fault = sweep_.fault();
  if (fault != nullptr && number > fault->request + kMostStacksAfterFault) return false;
  CallStack stack;
  capture(stack);
  PointHash point = 0;
  {
    const Locked locked(mutex_);
    request.site = sites_.index_of(stack);
    ++sites_[request.site].requests;
    point = sites_[request.site].point;
    const bool is_fault = is_planned_now || is_planned_at(point);
    const Refusal why = is_fault              ? Refusal::fault
                        : is_limited(request) ? Refusal::limit
                                              : Refusal::none;
    if (why != Refusal::none) {
      note_failure(why, number, request);
      return true;
    }
  }
  if (!sweep_.is_on() || sweep_.is_over()) return false;
  const auto sites = static_cast<std::uint32_t>(sites_.sites().size());
  if (!sweep_.fails(number, point, request.bytes)) return false;
  sites_at_fault_ = sites;
  failed_site_ = request.site;
  pid_ = getpid();
  return true;
}

void Watch::note_failure(Refusal why, std::uint64_t number, const Request& request) {
  if (failed_++ > 0) return;
  failure_ = {why, number, request.bytes, request.site, live_bytes_};
  for (Site& site : sites_.sites()) site.at_failure = site.live;
  // The program may not live to write it later.
  if (settings_.record_folder != nullptr) write_record(false);
}

/// A site keeps what it held at the last peak; it is brought up to date when it changes after one.
void Watch::change(std::uint32_t index, std::int64_t bytes, std::int64_t blocks) {
  if (index == kNoSite) return;
  Site& site = sites_[index];
  if (site.peak_number != peak_number_) {
    site.at_peak = site.live;
    site.peak_number = peak_number_;
  }
  site.live.bytes += bytes;
  site.live.blocks += blocks;
  live_bytes_ += bytes;
  if (live_bytes_ <= peak_bytes_) return;
  peak_bytes_ = live_bytes_;
  ++peak_number_;
}

void Watch::add_block(const void* block, const Request& request) {
  put_back({reinterpret_cast<std::uintptr_t>(block), request.bytes, request.site});
}

void Watch::put_back(const LiveBlock& block) {
  const Locked locked(mutex_);
  if (!blocks_.add(block)) return;
  change(block.site, static_cast<std::int64_t>(block.bytes), 1);
}

std::uint64_t Watch::bytes_of(const void* block) {
  const Locked locked(mutex_);
  const LiveBlock* const known = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
  return known == nullptr ? 0 : known->bytes;
}

bool Watch::take_block(const void* block, LiveBlock& taken) {
  const Locked locked(mutex_);
  if (!blocks_.take(reinterpret_cast<std::uintptr_t>(block), taken)) return false;
  change(taken.site, -static_cast<std::int64_t>(taken.bytes), -1);
  return true;
}

void Watch::add_range(const void* begin, const Request& request) {
  const Locked locked(mutex_);
  if (!ranges_.add({reinterpret_cast<std::uintptr_t>(begin), request.bytes, request.site})) return;
  change(request.site, static_cast<std::int64_t>(request.bytes), 1);
}

void Watch::take_ranges(const void* begin, std::uint64_t bytes) {
  const Locked locked(mutex_);
  LiveBlock piece;
  while (ranges_.take_overlap(reinterpret_cast<std::uintptr_t>(begin), bytes, piece)) {
    change(piece.site, -static_cast<std::int64_t>(piece.bytes), -1);
  }
}

void Watch::move_ranges(const void* old, std::uint64_t old_bytes, const void* begin,
                        const Request& request) {
  const Locked locked(mutex_);
  LiveBlock piece;
  std::uint32_t site = request.site;
  std::uint64_t known = 0;
  while (ranges_.take_overlap(reinterpret_cast<std::uintptr_t>(old), old_bytes, piece)) {
    change(piece.site, -static_cast<std::int64_t>(piece.bytes), -1);
    known += piece.bytes;
    if (request.bytes <= old_bytes) site = piece.site;
  }
  // Of a file, or of address space alone.
  if (known == 0) return;
  if (!ranges_.add({reinterpret_cast<std::uintptr_t>(begin), request.bytes, site})) return;
  change(site, static_cast<std::int64_t>(request.bytes), 1);
}

void Watch::before_fork() { pthread_mutex_lock(&mutex_); }
void Watch::after_fork_in_parent() { pthread_mutex_unlock(&mutex_); }

void Watch::after_fork_in_child() {
  // Its owner is a thread of the parent.
  mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pid_ = getpid();
  if (!sweep_.is_on()) return;
  stage = Stage::idle;
  has_ended_ = true;
}

RecordedProcess Watch::recorded(bool has_ended) {
  return {sites_,  failure_,    has_ended,   requests_.load(std::memory_order_relaxed),
          failed_, live_bytes_, peak_bytes_, peak_number_};
}

void Watch::write_record(bool has_ended) {
  RecordFile(recorded(has_ended), RecordedSites::holders).write(record_place);
}

void Watch::end_by_signal() {
  // A thread that has the lock may be the one that the signal stopped.
  if (getpid() != pid_ || pthread_mutex_trylock(&mutex_) != 0) return;
  write_record(true);
  pthread_mutex_unlock(&mutex_);
}

void Watch::end() {
  // A child that shares this memory until it becomes another program, or one that a system call
  // made, is not the process that this was recorded of.
  if (getpid() != pid_ || has_ended_) return;
  const Locked locked(mutex_);
  if (settings_.record_folder != nullptr) write_record(true);
  if (!sweep_.is_on()) return;
  has_ended_ = true;
  end_sweep();
}

void Watch::end_sweep() {
  if (sweep_.is_traced()) {
    LeftMemory(sites_, blocks_, ~hidden_heap_end_).write(sweep_.left_path());
    RecordFile(recorded(true), RecordedSites::all).write(sweep_.points_path());
  } else if (SweptFault* const fault = sweep_.fault()) {
    fault->left = LeftMemory(sites_, blocks_, ~hidden_heap_end_)
                      .beyond(sweep_.expected_left(), sites_[failed_site_], sites_at_fault_);
  }
  sweep_.end(requests_.load(std::memory_order_relaxed));
}

}  // namespace ohm::interpose::host
