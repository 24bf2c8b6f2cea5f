// The first line of an entry point: what a call meets before it does anything. An error that
// stays, a fault of the plan, a driver that is not there.
#pragma once

#include <atomic>

#include "allocator_shim/interpose/contexts.h"
#include "allocator_shim/interpose/driver_call.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

/// A plan names calls, or an error stays: without either, calls do not look.
extern std::atomic<bool> calls_are_watched;

/// A call that a program makes; those that the stand-in makes within it are its own. 0: it goes on.
class EntryCall {
 public:
  explicit EntryCall(const char* name) {
    if (calls_are_watched.load(std::memory_order_relaxed)) begin(name);
  }
  ~EntryCall() {
    if (is_counted_) end();
  }
  EntryCall(const EntryCall&) = delete;
  EntryCall& operator=(const EntryCall&) = delete;

  bool has_failed() const { return code_ != 0; }
  /// In the library's own codes.
  int code() const { return code_; }
  Status status() const { return static_cast<Status>(code_); }

 private:
  void begin(const char* name);
  static void end();

  bool is_counted_ = false;
  int code_ = 0;
};

/// The error that stays in the context of the thread's GPU; success: none.
Status sticky_error();
/// Whether a GPU, by its number in the machine, has fallen off the bus.
bool is_device_lost(int number);
/// What ncclCommGetAsyncError tells: the last error that was injected into NCCL.
int injected_nccl_error();

}  // namespace ohm::interpose

/// Of the runtime, in a function of another name: it initializes the driver itself, and every
/// failure is kept for cudaGetLastError.
#define OHM_RUNTIME_CALL_OF(name)                                                     \
  if (ohm::interpose::is_within_host_function()) return noted(Status::not_permitted); \
  ohm::interpose::note_use_of_runtime();                                              \
  OHM_RUNTIME_QUERY_OF(name)
#define OHM_RUNTIME_CALL OHM_RUNTIME_CALL_OF(__func__)

/// The same for what needs no context, and makes none.
#define OHM_RUNTIME_QUERY_OF(name)                                                     \
  ohm::interpose::GpuSystem::of_process().initialize();                                \
  if (ohm::interpose::gpus().count() == 0) return noted(Status::no_device);            \
  if (ohm::interpose::gpus().is_lost_by_fork()) return noted(Status::not_initialized); \
  const ohm::interpose::EntryCall entry_call(name);                                    \
  if (entry_call.has_failed()) return noted(entry_call.status())
#define OHM_RUNTIME_QUERY OHM_RUNTIME_QUERY_OF(__func__)

/// Of the driver: cuInit has to come before it.
#define OHM_DRIVER_CALL                                            \
  if (!ohm::interpose::GpuSystem::of_process().is_initialized() || \
      ohm::interpose::GpuSystem::of_process().is_lost_by_fork()) { \
    return Status::not_initialized;                                \
  }                                                                \
  const ohm::interpose::DriverCall driver_call;                    \
  const ohm::interpose::EntryCall entry_call(__func__);            \
  if (entry_call.has_failed()) return entry_call.status()

/// The same for what needs a current context.
#define OHM_CONTEXT_CALL                                                       \
  if (ohm::interpose::is_within_host_function()) return Status::not_permitted; \
  OHM_DRIVER_CALL;                                                             \
  if (ohm::interpose::current_context() == nullptr) return Status::invalid_context

/// Of another library, whose results are of this type.
#define OHM_LIBRARY_CALL(Result)                        \
  const ohm::interpose::EntryCall entry_call(__func__); \
  if (entry_call.has_failed()) return static_cast<Result>(entry_call.code())
