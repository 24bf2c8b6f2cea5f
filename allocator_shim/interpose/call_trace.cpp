#include "allocator_shim/interpose/call_trace.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "allocator_shim/interpose/call_kind.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/fault_trace.h"

// The linker's names for where this library begins and ends.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" const char __ehdr_start __attribute__((visibility("hidden")));
extern "C" const char _end __attribute__((visibility("hidden")));
// NOLINTEND(readability-identifier-naming)

namespace ohm::interpose {

namespace {

/// Tells a place by its number.
using CallFollower = int (*)();

constexpr std::size_t kMostFrames = 24;

CallFollower call_follower = nullptr;
pthread_t followed_thread = {};

// ---- places -------------------------------------------------------------------------------------

struct Stack {
  std::array<std::uintptr_t, kMostFrames> addresses = {};
  std::size_t depth = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* into) {
  Stack& stack = *static_cast<Stack*>(into);
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (address == 0) return _URC_END_OF_STACK;
  const auto begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  const auto end = reinterpret_cast<std::uintptr_t>(&_end);
  if (address - begin < end - begin) return _URC_NO_REASON;
  stack.addresses[stack.depth++] = address;
  return stack.depth == kMostFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/// "FILE+ADDRESS", by the address in the file; "+ADDRESS": in the program.
std::string frame_text(std::uintptr_t address) {
  Dl_info info = {};
  void* file = nullptr;
  if (dladdr1(reinterpret_cast<void*>(address), &info, &file, RTLD_DL_LINKMAP) == 0) return "?+0";
  const link_map& loaded = *static_cast<const link_map*>(file);
  // The program itself has no name.
  return fmt::format("{}+{:x}", loaded.l_name, address - loaded.l_addr);
}

/// The same in every run, wherever files are loaded.
struct CallPlace {
  std::uint64_t number = 0;
  std::string stack;  ///< empty: the follower has told it
};

Stack captured_stack() {
  Stack stack;
  _Unwind_Backtrace(add_frame, &stack);
  return stack;
}

CallPlace place_by_stack() {
  const Stack stack = captured_stack();
  CallPlace place;
  PointHash hash;
  for (std::size_t i = 0; i < stack.depth; ++i) {
    const std::string frame = frame_text(stack.addresses[i]);
    hash.add(frame);
    place.stack += " " + frame;
  }
  place.number = hash.value();
  return place;
}

CallPlace place_of_call() {
  if (call_follower == nullptr) return place_by_stack();
  // Other threads do not take Python's lock: they may hold one that its holder waits for.
  if (pthread_equal(pthread_self(), followed_thread) == 0) return {};
  return {static_cast<std::uint64_t>(call_follower()) + 1, {}};
}

// ---- the list -----------------------------------------------------------------------------------

// What is made here lives as long as the process: destructors of others make calls, too.
const std::string& trace_folder() {
  static const auto* const folder = [] {
    const char* const value = std::getenv(kCallTraceVariable);
    return new std::string(value == nullptr ? "" : value);
  }();
  return *folder;
}

/// Written to by this process alone, also where it is the copy of another.
class TraceFile {
 public:
  explicit TraceFile(const char* name) : name_(name) {}
  void add(const std::string& line) {
    if (process_ != getpid()) {
      process_ = getpid();
      const std::string path = fmt::format("{}/{}-{}", trace_folder(), name_, process_);
      file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    [[maybe_unused]] const ssize_t written = write(file_, line.data(), line.size());
  }

 private:
  const char* name_;
  pid_t process_ = 0;
  int file_ = -1;
};

// ---- what follows a failure ---------------------------------------------------------------------

FaultTrace* opened_trace() {
  const char* const path = std::getenv(kFaultTraceVariable);
  if (path == nullptr || *path == '\0') return nullptr;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const at = mmap(nullptr, sizeof(FaultTrace), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return at == MAP_FAILED ? nullptr : static_cast<FaultTrace*>(at);
}

FaultTrace* trace() {
  static FaultTrace* const shared = opened_trace();
  return shared;
}

bool is_rank_of_faults() {
  const char* const rank = std::getenv("RANK");
  return rank == nullptr || std::string_view(rank) == "0";
}

// Note [Calls made again]
// A program that is told of an error that stays, and makes the failed call again, cannot succeed.
// PyTorch turns each error into an exception: a call of Python that fails for the second time with
// one stack was made again; a wait that fails for the third time, as a program may wait for several
// streams before it ends. A native program may drop what a call returns, go on with its loop, and
// look at the end: it makes a call again where it has asked for the error by cudaGetLastError, or
// where a call that was made before the failure, and never twice in a row, is made twice in a row.
// Each thread is told of the error by itself: what several of them do once is not made again.
struct ThreadFailures {
  bool is_read = false;  ///< the thread has asked for the error since
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> calls;  ///< by names and places
  std::uint64_t last_call = 0;  ///< of a native program, as call_key() tells it
};
struct Failures {
  bool is_any = false;
  std::map<std::uint64_t, ThreadFailures> threads;  ///< by their numbers
};

std::mutex failures_mutex;
Failures& failures = *new Failures();
/// Of a native program, before anything failed: its calls, those that followed themselves, and the
/// last one.
std::set<std::uint64_t>& known_calls = *new std::set<std::uint64_t>();
std::set<std::uint64_t>& repeated_calls = *new std::set<std::uint64_t>();
std::uint64_t last_call = 0;

/// Of a call at its place: what it returns to.
std::uint64_t call_key() { return captured_stack().addresses[0]; }

bool is_own_failure(const FaultTrace* shared) {
  return shared != nullptr && shared->process == getpid();
}

/// Unlike its identifier, nobody gets it again when the thread has ended.
std::uint64_t number_of_thread() {
  static std::atomic<std::uint64_t> last = 0;
  thread_local const std::uint64_t number = ++last;
  return number;
}

/// See Note [Calls made again].
bool is_made_again(std::uint64_t name, std::uint64_t key, CallKind kind) {
  ThreadFailures& own = failures.threads[number_of_thread()];
  const int times = ++own.calls[{name, key}];
  if (call_follower != nullptr) return times > (kind == CallKind::wait ? 2 : 1);
  const bool is_known = times > 1;
  const bool follows_itself = key == std::exchange(own.last_call, key);
  const bool is_out_of_turn =
      follows_itself && is_known && known_calls.contains(key) && !repeated_calls.contains(key);
  return is_out_of_turn || (is_known && own.is_read);
}

void follow(FaultTrace& shared, const char* name, CallKind kind) {
  // Before the lock: it may wait for Python.
  const std::uint64_t key = call_follower == nullptr ? call_key() : place_of_call().number;
  const std::lock_guard guard(failures_mutex);
  const bool has_place = key != 0;
  if (has_place && is_made_again(PointHash().add(name).value(), key, kind)) {
    ++shared.again;
  } else if (std::exchange(failures.is_any, true) && asks_for_work(kind)) {
    ++shared.later_work;
  }
}

/// Before anything has failed.
void note_order(CallKind kind) {
  const FaultTrace* const shared = trace();
  if (shared == nullptr || call_follower != nullptr || shared->process != 0 || !is_work(kind)) {
    return;
  }
  const std::uint64_t key = call_key();
  const std::lock_guard guard(failures_mutex);
  known_calls.insert(key);
  if (key == std::exchange(last_call, key)) repeated_calls.insert(key);
}

}  // namespace

bool wants_call_trace() { return !trace_folder().empty() || trace() != nullptr; }

void note_call(const char* name) {
  if (!wants_call_trace()) return;
  static const bool counts_as_successor = [] {
    FaultTrace* const shared = trace();
    const bool is_after = shared != nullptr && shared->process != 0;
    if (is_after) ++shared->successors;
    return is_after;
  }();
  static_cast<void>(counts_as_successor);
  const CallKind kind = kind_of_call(name);
  note_order(kind);
  const bool can_fail = kind != CallKind::other && kind != CallKind::preparation;
  if (trace_folder().empty() || !can_fail) return;
  static std::mutex mutex;
  static TraceFile calls("calls");
  static TraceFile stacks("stacks");
  static auto& known = *new std::set<std::uint64_t>();
  const CallPlace place = place_of_call();
  const std::lock_guard guard(mutex);
  if (!place.stack.empty() && known.insert(place.number).second) {
    stacks.add(fmt::format("{:x}{}\n", place.number, place.stack));
  }
  calls.add(fmt::format("{} {:x}\n", name, place.number));
}

void note_failed_call(const char* name) {
  FaultTrace* const shared = trace();
  if (!is_own_failure(shared)) return;
  const CallKind kind = kind_of_call(name);
  if (kind == CallKind::other) return;
  ++shared->shown;
  const bool is_followed = is_work(kind) || kind == CallKind::preparation;
  if (is_followed && shared->is_sticky != 0) follow(*shared, name, kind);
}

void note_error_is_read() {
  if (!is_own_failure(trace())) return;
  const std::lock_guard guard(failures_mutex);
  if (failures.is_any) failures.threads[number_of_thread()].is_read = true;
}

bool may_inject(bool is_sticky) {
  FaultTrace* const shared = trace();
  if (shared == nullptr) return true;
  std::int32_t none = 0;
  if (!is_rank_of_faults() || !shared->process.compare_exchange_strong(none, getpid())) {
    return false;
  }
  shared->is_sticky = is_sticky ? 1 : 0;
  return true;
}

}  // namespace ohm::interpose

/// From now on the follower tells, by numbers from 0, the places of this thread at which it makes
/// calls.
OHM_EXPORTED void ohm_follow_calls(ohm::interpose::CallFollower follower) {
  ohm::interpose::followed_thread = pthread_self();
  ohm::interpose::call_follower = follower;
}
