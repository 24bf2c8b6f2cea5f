// A copy of the process in which a request fails, and what becomes of it, while the process itself
// stands still and is not disturbed.
//
// A raw system call makes the copy: the C library's fork() would give its thread another number,
// and locks that are held at the request could not be given back. It is none of the children that
// the program waits for, and its end sends no signal. The copy has its own places in the files that
// are open for reading, and files of its own for its output. Where that is not enough, there is no
// copy: with several threads, files open for writing, pipes and sockets, or children.
#pragma once

#include <cstdint>

#include "allocator_shim/interpose/host/host_settings.h"
#include "allocator_shim/interpose/host/process_settings.h"

namespace ohm::interpose::host {

/// Of a sweep's folder.
struct CopyFiles {
  CopyFiles() = default;
  explicit CopyFiles(const char* folder);

  FixedPath output;
  FixedPath errors;
  FixedPath expected_output;
  FixedPath expected_errors;
  FixedPath copy_output;
  FixedPath copy_errors;
};

bool has_several_threads();

/// True in the copy, which goes on with a request that failed. In the process itself false, once
/// the copy has ended or has been killed: `fault` then has what became of it, or why there was
/// none.
bool fail_in_copy(const CopyFiles& files, std::uint32_t milliseconds, SweptFault& fault);

}  // namespace ohm::interpose::host
