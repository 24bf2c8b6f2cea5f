// Calls of the driver before cuInit. The runtime, and the libraries above it, initialize the driver
// themselves.
#pragma once

#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"

/// The first line of an entry point of the driver that cuInit has to come before.
#define OHM_NEEDS_CUINIT \
  if (!ohm::interpose::GpuSystem::of_process().is_initialized()) return Status::not_initialized
