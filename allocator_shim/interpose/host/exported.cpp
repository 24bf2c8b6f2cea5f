// What programs call instead of the functions of their allocator.
#include <linux/close_range.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/host/next_functions.h"
#include "allocator_shim/interpose/host/record_place.h"
#include "allocator_shim/interpose/host/watch.h"

namespace ohm::interpose::host {

namespace {

bool is_straight_on() { return stage.load(std::memory_order_relaxed) == Stage::idle; }

/// False while the functions behind are being looked up.
bool is_ready() {
  if (stage.load(std::memory_order_relaxed) != Stage::start_up) return true;
  if (!find_next_functions()) return false;
  stage = Stage::idle;
  return true;
}

}  // namespace

bool is_ready_for_files() { return is_ready(); }

namespace {

/// Whether the request is the program's, and watched.
bool is_watched() {
  return stage.load(std::memory_order_relaxed) == Stage::watched && !Inside::is_entered();
}

template <typename Make>
void* requested_block(std::size_t bytes, const Make& make) {
  if (!is_watched()) return make();
  Inside inside;
  Request request = {bytes, 0, kNoSite};
  if (watch.refuses(request)) {
    inside.set_error(ENOMEM);
    return nullptr;
  }
  void* const block = make();
  if (block == nullptr) {
    inside.set_error(errno);
  } else if (watch.has_live()) {
    watch.add_block(block, request);
  }
  return block;
}

void* watched_realloc(void* memory, std::size_t bytes) {
  Inside inside;
  Request request = {bytes, 0, kNoSite};
  if (watch.has_live()) request.given_back = watch.bytes_of(memory);
  if (watch.refuses(request)) {
    inside.set_error(ENOMEM);
    return nullptr;
  }
  LiveBlock old;
  // Once it is given back, another thread may get the same address.
  const bool is_known = watch.has_live() && watch.take_block(memory, old);
  void* const block = next.realloc(memory, bytes);
  if (block != nullptr && watch.has_live()) watch.add_block(block, request);
  if (block == nullptr) {
    inside.set_error(errno);
    if (is_known && bytes > 0) watch.put_back(old);
  }
  return block;
}

/// Start-up memory is not given back.
void* moved_from_start_up(void* memory, std::size_t bytes) {
  void* const moved = malloc(bytes);
  if (moved != nullptr) std::memcpy(moved, memory, std::min(bytes, start_up_bytes(memory)));
  return moved;
}

void forget_block(const void* memory) {
  const Inside inside;
  LiveBlock taken;
  watch.take_block(memory, taken);
}

void forget_ranges(const void* begin, std::size_t bytes) {
  const Inside inside;
  watch.take_ranges(begin, bytes);
}

/// Whether the pages are memory: address space alone is none, nor are files.
bool is_memory(int protection, int flags) {
  return (flags & MAP_ANONYMOUS) != 0 && protection != PROT_NONE;
}

void* watched_mmap(void* hint, std::size_t bytes, int protection, int flags, int file,
                   off_t offset) {
  const bool is_request = is_memory(protection, flags);
  Inside inside;
  Request request = {bytes, 0, kNoSite};
  if (is_request && watch.refuses(request)) {
    inside.set_error(ENOMEM);
    return MAP_FAILED;
  }
  void* const begin = next.mmap(hint, bytes, protection, flags, file, offset);
  if (begin == MAP_FAILED) {
    inside.set_error(errno);
  } else if (watch.has_live()) {
    // With MAP_FIXED it takes the place of what was there.
    watch.take_ranges(begin, bytes);
    if (is_request) watch.add_range(begin, request);
  }
  return begin;
}

void* watched_mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags, void* to) {
  Inside inside;
  Request request = {bytes, old_bytes, kNoSite};
  if (bytes > old_bytes && watch.refuses(request)) {
    inside.set_error(ENOMEM);
    return MAP_FAILED;
  }
  void* const begin = next.mremap(old, old_bytes, bytes, flags, to);
  if (begin == MAP_FAILED) {
    inside.set_error(errno);
  } else if (watch.has_live()) {
    watch.move_ranges(old, old_bytes, begin, request);
  }
  return begin;
}

bool is_product_too_large(std::size_t count, std::size_t bytes, std::size_t& product) {
  return __builtin_mul_overflow(count, bytes, &product);
}

void at_fork() { watch.before_fork(); }
void in_parent() { watch.after_fork_in_parent(); }
void in_child() { watch.after_fork_in_child(); }

/// The loader calls it before the program's own code runs. The program may have a getenv() of its
/// own.
__attribute__((constructor)) void start(int /*count*/, char** /*words*/, char** environment) {
  if (!is_ready()) return;
  const Inside inside;
  if (!watch.start(read_settings(environment), environment)) return;
  pthread_atfork(at_fork, in_parent, in_child);
  stage = Stage::watched;
}

__attribute__((destructor)) void end() {
  if (stage == Stage::start_up) return;
  const Inside inside;
  watch.end();
}

}  // namespace

}  // namespace ohm::interpose::host

namespace host = ohm::interpose::host;

OHM_EXPORTED void* malloc(std::size_t bytes) {
  if (host::is_straight_on()) return host::next.malloc(bytes);
  if (!host::is_ready()) return host::start_up_memory(bytes);
  return host::requested_block(bytes, [&] { return host::next.malloc(bytes); });
}

OHM_EXPORTED void free(void* memory) {
  if (host::is_start_up_memory(memory)) return;
  if (!host::is_straight_on()) {
    if (!host::is_ready()) return;
    if (memory != nullptr && host::watch.has_live() && host::is_watched()) {
      host::forget_block(memory);
    }
  }
  host::next.free(memory);
}

OHM_EXPORTED void* calloc(std::size_t count, std::size_t bytes) {
  if (host::is_straight_on()) return host::next.calloc(count, bytes);
  std::size_t whole = 0;
  if (host::is_product_too_large(count, bytes, whole)) {
    errno = ENOMEM;
    return nullptr;
  }
  // Start-up memory is zero.
  if (!host::is_ready()) return host::start_up_memory(whole);
  return host::requested_block(whole, [&] { return host::next.calloc(count, bytes); });
}

OHM_EXPORTED void* realloc(void* memory, std::size_t bytes) {
  if (memory == nullptr) return malloc(bytes);
  if (host::is_start_up_memory(memory)) return host::moved_from_start_up(memory, bytes);
  if (host::is_straight_on() || !host::is_watched()) return host::next.realloc(memory, bytes);
  return host::watched_realloc(memory, bytes);
}

OHM_EXPORTED void* reallocarray(void* memory, std::size_t count, std::size_t bytes) {
  std::size_t whole = 0;
  if (!host::is_product_too_large(count, bytes, whole)) return realloc(memory, whole);
  errno = ENOMEM;
  return nullptr;
}

OHM_EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (!host::is_ready()) return nullptr;
  return host::requested_block(bytes, [&] { return host::next.aligned_alloc(alignment, bytes); });
}

OHM_EXPORTED int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (!host::is_ready()) return ENOMEM;
  const int error_before = errno;
  int error = ENOMEM;
  void* const block = host::requested_block(bytes, [&]() -> void* {
    void* made = nullptr;
    error = host::next.posix_memalign(&made, alignment, bytes);
    return error == 0 ? made : nullptr;
  });
  errno = error_before;
  if (block == nullptr) return error;
  *memory = block;
  return 0;
}

OHM_EXPORTED void* memalign(std::size_t alignment, std::size_t bytes) {
  if (!host::is_ready()) return nullptr;
  return host::requested_block(bytes, [&] { return host::next.memalign(alignment, bytes); });
}

OHM_EXPORTED void* valloc(std::size_t bytes) {
  if (!host::is_ready()) return nullptr;
  return host::requested_block(bytes, [&] { return host::next.valloc(bytes); });
}

OHM_EXPORTED void* pvalloc(std::size_t bytes) {
  if (!host::is_ready()) return nullptr;
  return host::requested_block(bytes, [&] { return host::next.pvalloc(bytes); });
}

OHM_EXPORTED std::size_t malloc_usable_size(void* memory) {
  if (memory == nullptr || !host::is_ready()) return 0;
  if (host::is_start_up_memory(memory)) return host::start_up_bytes(memory);
  return host::next.malloc_usable_size(memory);
}

OHM_EXPORTED void* mmap(void* hint, std::size_t bytes, int protection, int flags, int file,
                        off_t offset) noexcept {
  if (!host::is_ready()) {
    return reinterpret_cast<void*>(syscall(SYS_mmap, hint, bytes, protection, flags, file, offset));
  }
  if (!host::is_watched()) return host::next.mmap(hint, bytes, protection, flags, file, offset);
  return host::watched_mmap(hint, bytes, protection, flags, file, offset);
}

OHM_EXPORTED void* mmap64(void* hint, std::size_t bytes, int protection, int flags, int file,
                          off64_t offset) noexcept {
  return mmap(hint, bytes, protection, flags, file, offset);
}

OHM_EXPORTED int munmap(void* begin, std::size_t bytes) noexcept {
  if (!host::is_ready()) return static_cast<int>(syscall(SYS_munmap, begin, bytes));
  // Before: another thread may be given the same pages.
  if (host::watch.has_live() && host::is_watched()) host::forget_ranges(begin, bytes);
  return host::next.munmap(begin, bytes);
}

OHM_EXPORTED void* mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags,
                          ...) noexcept {
  void* to = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    va_list rest;
    va_start(rest, flags);
    to = va_arg(rest, void*);
    va_end(rest);
  }
  if (!host::is_ready()) {
    return reinterpret_cast<void*>(syscall(SYS_mremap, old, old_bytes, bytes, flags, to));
  }
  if (!host::is_watched()) return host::next.mremap(old, old_bytes, bytes, flags, to);
  return host::watched_mremap(old, old_bytes, bytes, flags, to);
}

OHM_EXPORTED void _exit(int status) {
  if (host::is_ready()) {
    const host::Inside inside;
    host::watch.end();
  }
  host::next._exit(status);
  __builtin_unreachable();
}

OHM_EXPORTED void _Exit(int status) noexcept { _exit(status); }

OHM_EXPORTED int close(int file) {
  if (!host::is_ready()) return static_cast<int>(syscall(SYS_close, file));
  // Programs close all descriptors that there may be.
  if (host::record_place.owns(file)) {
    errno = EBADF;
    return -1;
  }
  return host::next.close(file);
}

OHM_EXPORTED int close_range(unsigned first, unsigned last, int flags) noexcept {
  const auto own = static_cast<unsigned>(host::record_place.descriptor());
  const bool has_own = host::record_place.descriptor() >= 0 && first <= own && own <= last &&
                       (static_cast<unsigned>(flags) & CLOSE_RANGE_CLOEXEC) == 0;
  const auto close_all = [flags](unsigned from, unsigned to) {
    return from > to ? 0 : static_cast<int>(syscall(SYS_close_range, from, to, flags));
  };
  if (!has_own) return close_all(first, last);
  if (own > first && close_all(first, own - 1) != 0) return -1;
  return close_all(own + 1, last);
}

OHM_EXPORTED void closefrom(int first) noexcept {
  close_range(static_cast<unsigned>(std::max(0, first)), ~0U, 0);
}
