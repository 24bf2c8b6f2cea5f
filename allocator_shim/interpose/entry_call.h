// The first line of an entry point: what it meets before it does anything.
#pragma once

#include "allocator_shim/interpose/contexts.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"

/// Of the runtime: it initializes the driver itself, and every failure is kept for
/// cudaGetLastError.
#define OHM_RUNTIME_CALL                                                    \
  ohm::interpose::note_use_of_runtime();                                    \
  ohm::interpose::GpuSystem::of_process().initialize();                     \
  if (ohm::interpose::gpus().count() == 0) return noted(Status::no_device); \
  if (ohm::interpose::gpus().is_lost_by_fork()) return noted(Status::not_initialized)

/// Of the driver: cuInit has to come before it.
#define OHM_DRIVER_CALL                                            \
  if (!ohm::interpose::GpuSystem::of_process().is_initialized() || \
      ohm::interpose::GpuSystem::of_process().is_lost_by_fork()) { \
    return Status::not_initialized;                                \
  }

/// The same for what needs a current context.
#define OHM_CONTEXT_CALL \
  OHM_DRIVER_CALL        \
  if (ohm::interpose::current_context() == nullptr) return Status::invalid_context
