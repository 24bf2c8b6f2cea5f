// The functions that libohm_host.so stands in front of: those of the program's allocator, which is
// the C library's or another one.
#pragma once

#include <fcntl.h>
#include <malloc.h>
#include <netdb.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace ohm::interpose::host {

// One row for each: what is looked up is what is declared.
#define OHM_FOR_EACH_NEXT(ROW) \
  ROW(malloc)                  \
  ROW(free)                    \
  ROW(calloc)                  \
  ROW(realloc)                 \
  ROW(aligned_alloc)           \
  ROW(posix_memalign)          \
  ROW(memalign)                \
  ROW(valloc)                  \
  ROW(pvalloc)                 \
  ROW(malloc_usable_size)      \
  ROW(mmap)                    \
  ROW(munmap)                  \
  ROW(mremap)                  \
  ROW(_exit)                   \
  ROW(close)                   \
  ROW(connect)                 \
  ROW(getaddrinfo)             \
  ROW(open)                    \
  ROW(openat)                  \
  ROW(fopen)                   \
  ROW(freopen)                 \
  ROW(mkostemps)               \
  ROW(mkdtemp)                 \
  ROW(mkdir)                   \
  ROW(rename)                  \
  ROW(renameat)

struct NextFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name that is declared
#define OHM_MEMBER(name) decltype(&::name) name = nullptr;
  OHM_FOR_EACH_NEXT(OHM_MEMBER)
#undef OHM_MEMBER
};

extern NextFunctions next;  // NOLINT(bugprone-dynamic-static-initializers): constinit there

/// False where they are being found just now: what asks then gets start-up memory.
bool find_next_functions();

/// Whether they are found; looks for them where nobody did.
bool is_ready_for_files();

/// Memory for what asks while the functions are being looked up, the loader for one. It is never
/// given back.
void* start_up_memory(std::size_t bytes);
bool is_start_up_memory(const void* block);
std::size_t start_up_bytes(const void* block);

}  // namespace ohm::interpose::host
