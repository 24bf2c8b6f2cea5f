#include "allocator_shim/interpose/followed_requests.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/known_values.h"
#include "allocator_shim/interpose/objects.h"

// Note [Requests of PyTorch's allocator]
// PyTorch's allocators are objects of one class with virtual functions, `c10::Allocator`: its
// destructor has the first two entries of the table, `allocate(size_t)` the third. All tensors and
// workspaces come from there, and no lock is held yet. A request fails as on a full card: the
// allocator is asked, on a stream of which it has no cached block, while the device refuses
// everything. So it tries what it would try, gives back what it has cached, counts, calls its
// observers and throws an error of its own.

namespace ohm::interpose {

/// c10::DataPtr, as far as it matters: four words that are returned in memory, the address first.
/// It is only passed on: it is made in its place, and none of these functions is there.
class DataPointer {
 public:
  DataPointer(DataPointer&&) noexcept;
  DataPointer& operator=(DataPointer&&) = delete;
  ~DataPointer();

  void* address() const { return words_[0]; }

 private:
  void* words_[4];
};

namespace {

using Allocate = DataPointer (*)(void* allocator, std::size_t bytes);
constexpr std::size_t kAllocateEntry = 2;
/// What programs look at fits a block of the smallest size: flags, losses, what a solver says.
constexpr std::size_t kClearedBytes = 512;

/// c10::cuda::CUDAStream: a device and a number.
struct TorchStream {
  std::uint64_t words[2];
};

/// What PyTorch's library of CUDA has for streams; nullptr: it is another one.
struct TorchStreams {
  TorchStream (*current)(std::int8_t device) = nullptr;
  void (*set_current)(TorchStream stream) = nullptr;
  TorchStream (*from_external)(void* stream, std::int8_t device) = nullptr;
};

Allocate torch_allocate = nullptr;
TorchStreams torch_streams;
bool asks_about_requests = false;
RequestFollower request_follower = nullptr;
RequestFollower segment_follower = nullptr;

/// Nothing is ever allocated on it.
Stream* unused_stream() {
  static Stream* const made = create_stream(0, 0, 0);
  return made;
}

/// What a request that is to fail meets: the device refuses this thread's calls, and nothing that
/// the allocator has cached is of its stream. PyTorch's error passes through the function that sets
/// this up, and this library has an unwinder of its own: nothing can be undone there. So the stream
/// is restored where the allocator comes by on its way to the error, and the device refuses until
/// the next request, before which PyTorch asks it for nothing.
class FullCard {
 public:
  void begin() {
    is_refusing_ = true;
    has_changed_stream_ = true;
    before_ = torch_streams.current(kCurrentDevice);
    torch_streams.set_current(
        torch_streams.from_external(unused_stream(), static_cast<std::int8_t>(gpus().current())));
  }
  /// The allocator has found no cached block.
  void restore_stream() {
    if (!has_changed_stream_) return;
    has_changed_stream_ = false;
    torch_streams.set_current(before_);
  }
  void end() {
    is_refusing_ = false;
    restore_stream();
  }
  bool is_refusing() const { return is_refusing_; }

 private:
  static constexpr std::int8_t kCurrentDevice = -1;

  bool is_refusing_ = false;
  bool has_changed_stream_ = false;
  TorchStream before_ = {};
};

thread_local FullCard full_card;

bool is_to_fail(std::size_t bytes) {
  if (!asks_about_requests) return false;
  if (request_follower != nullptr) return request_follower(bytes) != 0;
  return gpus().refuses_request(gpus().current(), bytes);
}

DataPointer allocate_followed(void* allocator, std::size_t bytes) {
  full_card.end();
  if (bytes != 0 && is_to_fail(bytes)) full_card.begin();
  DataPointer made = torch_allocate(allocator, bytes);
  mark_new_block(made.address(), bytes);
  if (bytes <= kClearedBytes && made.address() != nullptr) std::memset(made.address(), 0, bytes);
  return made;
}

/// False where the page cannot be written to.
bool replace_entry(void** entry, void* function) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const page =
      reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(entry) / page_bytes * page_bytes);
  if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  // The page stays so: what else is in it may have been writable before.
  *entry = function;
  return true;
}

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

bool find_streams() {
  void* const library = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  look_up(library, "_ZN3c104cuda20getCurrentCUDAStreamEa", torch_streams.current);
  look_up(library, "_ZN3c104cuda20setCurrentCUDAStreamENS0_10CUDAStreamE",
          torch_streams.set_current);
  look_up(library, "_ZN3c104cuda21getStreamFromExternalEP11CUstream_sta",
          torch_streams.from_external);
  return torch_streams.current != nullptr && torch_streams.set_current != nullptr &&
         torch_streams.from_external != nullptr;
}

/// 0, or an errno.
int follow(void* allocator) {
  if (torch_allocate != nullptr) return 0;
  if (!find_streams()) return ENOSYS;
  void** const entry = *static_cast<void***>(allocator) + kAllocateEntry;
  torch_allocate = reinterpret_cast<Allocate>(*entry);
  return replace_entry(entry, reinterpret_cast<void*>(&allocate_followed)) ? 0 : errno;
}

/// Whether a call of the device is refused: by the follower of segments, or since the request of
/// the allocator that it is made for is to fail.
bool is_refused_by_follower(std::size_t bytes) {
  if (full_card.is_refusing()) {
    full_card.restore_stream();
    return true;
  }
  return segment_follower != nullptr && segment_follower(bytes) != 0;
}

}  // namespace

void restore_stream_of_request() { full_card.restore_stream(); }

}  // namespace ohm::interpose

/// From now on the follower is asked at each request of this allocator of PyTorch's; nullptr: the
/// fault plan is. 0, or an errno that says why not: ENOSYS for another library than PyTorch's.
OHM_EXPORTED int ohm_follow_requests(void* allocator, ohm::interpose::RequestFollower follower) {
  using namespace ohm::interpose;
  asks_about_requests = true;
  request_follower = follower;
  GpuSystem::of_process().refuse_when(&is_refused_by_follower);
  return follow(allocator);
}

/// From now on small blocks of this allocator of PyTorch's hold zeros, not what was there before:
/// so does what a program reads of results that no kernel computed. 0, or an errno, as above.
OHM_EXPORTED int ohm_clear_small_requests(void* allocator) {
  return ohm::interpose::follow(allocator);
}

/// From now on the follower is asked at each call that asks a GPU for memory; nullptr: no follower.
OHM_EXPORTED void ohm_follow_segments(ohm::interpose::RequestFollower follower) {
  ohm::interpose::segment_follower = follower;
  ohm::interpose::GpuSystem::of_process().refuse_when(&ohm::interpose::is_refused_by_follower);
}
