// The files that a process in a sweep creates, or opens for writing: what a failure leaves of them
// is compared with what a run without faults leaves.
//
// A line of the list: the letters of WrittenAs, a tab, and the absolute path. What the C library
// opens for itself is not seen, nor what other processes write that this one starts.
#pragma once

#include "allocator_shim/interpose/host/process_settings.h"

namespace ohm::interpose::host {

/// Letters of a line.
inline constexpr char kWrittenNew = 'n';        ///< it was not there
inline constexpr char kWrittenOld = 'o';        ///< it was there
inline constexpr char kWrittenExclusive = 'x';  ///< new, and it had to be, as temporary files have
inline constexpr char kWrittenAppended = 'a';   ///< what is written comes behind what is there
inline constexpr char kWrittenFolder = 'd';
inline constexpr char kWrittenRenamed = 'r';  ///< another file got this name

/// Adds a line to the list.
void add_written_file(const FixedPath& list, const char* letters, const char* path);

}  // namespace ohm::interpose::host
