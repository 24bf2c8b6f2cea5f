// To be preloaded: one host allocation of the process fails, the first at a point.
//
// What is allocated before main() begins (constructors of libraries) does not fail: the language
// has no caller who could catch it, and nothing is there to be lost.
//
// A point is a hash of the call stack, of addresses relative to their modules: the same in every
// run of the same binaries. With OHM_FAIL_POINT=HASH the first allocation there fails; processes
// that are forked later know whether that has happened. With OHM_POINTS_TO=PATH nothing fails, and
// the file gets the hash of each point when it is first passed, in whichever process. At its end
// the process that was started writes how many of its allocations live to OHM_LIVE_TO.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// The C library's own, so that nothing has to be looked up.
extern "C" void* __libc_malloc(size_t bytes);
extern "C" void* __libc_calloc(size_t count, size_t bytes);
extern "C" void* __libc_realloc(void* memory, size_t bytes);
extern "C" void* __libc_memalign(size_t alignment, size_t bytes);
extern "C" void __libc_free(void* memory);

namespace {

enum class Mode : std::uint8_t { idle, list, fail };

Mode mode = Mode::idle;
std::uint64_t failing_point = 0;
int points_file = -1;
pid_t started_process = 0;
bool has_main_begun = false;
long live = 0;
// Of this thread: its own stack walk must not be walked.
__thread bool is_walking __attribute__((tls_model("initial-exec"))) = false;

/// Points that were passed: open addressing, never full.
std::array<std::uint64_t, std::size_t{1} << 18U> passed = {};

bool is_first_time(std::uint64_t point) {
  std::size_t place = point % passed.size();
  while (passed[place] != 0 && passed[place] != point) place = (place + 1) % passed.size();
  if (passed[place] == point) return false;
  passed[place] = point;
  return true;
}

struct Walk {
  std::uint64_t hash = 0xcbf29ce484222325U;
  int frames = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  constexpr int kOwnFrames = 3;
  constexpr int kMostFrames = 24;
  auto& walk = *static_cast<Walk*>(argument);
  if (++walk.frames <= kOwnFrames) return _URC_NO_REASON;
  const std::uintptr_t address = _Unwind_GetIP(context);
  dl_find_object module = {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of code is what the function takes
  const bool is_known = _dl_find_object(reinterpret_cast<void*>(address), &module) == 0;
  const auto base = is_known ? reinterpret_cast<std::uintptr_t>(module.dlfo_map_start) : 0;
  walk.hash = (walk.hash ^ (address - base)) * 0x9e3779b97f4a7c15U;
  return walk.frames < kMostFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

__attribute__((noinline)) std::uint64_t point_of_caller() {
  Walk walk;
  _Unwind_Backtrace(add_frame, &walk);
  return walk.hash | 1U;
}

void list_point(std::uint64_t point) {
  if (!is_first_time(point)) return;
  std::array<char, 32> line = {};
  const int length =
      std::snprintf(line.data(), line.size(), "%016llx\n", static_cast<unsigned long long>(point));
  if (::write(points_file, line.data(), static_cast<std::size_t>(length)) < 0) std::abort();
}

__attribute__((noinline)) bool fails() {
  if (mode == Mode::idle || is_walking || !has_main_begun) return false;
  is_walking = true;
  const std::uint64_t point = point_of_caller();
  bool is_meant = false;
  if (mode == Mode::list) {
    list_point(point);
  } else if (point == failing_point) {
    mode = Mode::idle;
    is_meant = true;
    errno = ENOMEM;
  }
  is_walking = false;
  return is_meant;
}

void* counted(void* memory) {
  if (memory != nullptr) __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
  return memory;
}

struct Injector {
  Injector() {
    started_process = ::getpid();
    if (const char* const point = std::getenv("OHM_FAIL_POINT")) {
      failing_point = std::strtoull(point, nullptr, 16);
      mode = Mode::fail;
    } else if (const char* const path = std::getenv("OHM_POINTS_TO")) {
      points_file = ::open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
      mode = points_file < 0 ? Mode::idle : Mode::list;
    }
  }
  ~Injector() {
    mode = Mode::idle;
    const char* const path = std::getenv("OHM_LIVE_TO");
    if (path == nullptr || ::getpid() != started_process) return;
    const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return;
    ::dprintf(file, "%ld\n", live);
    ::close(file);
  }
};

Injector injector;

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int begin_main(int argc, char** argv, char** environment) {
  has_main_begun = true;
  return real_main(argc, argv, environment);
}

}  // namespace

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier): what a program's first instructions call
int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  real_main = main;
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(begin_main, argc, argv, init, fini, rtld_fini, stack_end);
}

void* malloc(size_t bytes) { return fails() ? nullptr : counted(__libc_malloc(bytes)); }

void* calloc(size_t count, size_t bytes) {
  return fails() ? nullptr : counted(__libc_calloc(count, bytes));
}

void* realloc(void* memory, size_t bytes) {
  if (fails()) return nullptr;
  void* const moved = __libc_realloc(memory, bytes);
  if (memory == nullptr) counted(moved);
  return moved;
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails() ? nullptr : counted(__libc_memalign(alignment, bytes));
}

int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  void* const made = fails() ? nullptr : counted(__libc_memalign(alignment, bytes));
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

void free(void* memory) {
  if (memory != nullptr) __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
  __libc_free(memory);
}
}
