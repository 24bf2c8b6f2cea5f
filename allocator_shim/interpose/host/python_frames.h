// The lines of a Python program that it was at when a request failed.
#pragma once

#include <array>

#include "allocator_shim/interpose/host/host_settings.h"
#include "allocator_shim/interpose/host/process_settings.h"

namespace ohm::interpose::host {

/// "FILE:LINE\tFUNCTION\n" for each, the innermost first, cut where they are too long; empty where
/// Python does not run here. A short-lived copy of the process asks Python, so that the process is
/// as it was: `file` is written by it.
void take_python_frames(const FixedPath& file, std::array<char, kFramesBytes>& frames);

}  // namespace ohm::interpose::host
