// Contexts of the driver: each GPU has a primary one, which the runtime uses, and programs may
// create others. Each thread has a stack of them, of which the last is current.
//
// Where the runtime was used in the process, a thread without a context has the primary one of its
// GPU: libraries mix both APIs.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

/// CUlimit: of the stack of a thread, of what kernels print into and allocate from, of nested
/// launches, of the cache.
inline constexpr std::size_t kContextLimits = 10;
inline constexpr std::array<std::size_t, kContextLimits> kInitialLimits = {
    1024, std::size_t{1} << 20U, std::size_t{8} << 20U, 2, 2048, 64, 0, 0, 0, 0};

struct Context {
  int device = 0;
  std::atomic<unsigned> flags = 0;
  /// What a program sets is what it is told; kernels do not run.
  std::array<std::atomic<std::size_t>, kContextLimits> limits = {};
  /// Of the GPUs that it may access, by number.
  std::atomic<std::uint64_t> peers = 0;
};

/// Of a GPU that is there.
Context* primary_context(int device);

/// Whether programs hold the primary one (cuDevicePrimaryCtxRetain), or the runtime uses it.
bool is_primary_active(int device);
void retain_primary(int device);
/// False: nobody holds it.
bool release_primary(int device);
/// It is reset: the runtime makes it anew where it is used again.
void end_primary(int device);

/// A new one, which becomes current; nullptr: there is no room.
Context* create_context(int device, unsigned flags);
/// Its memory is freed. False: it is none, or a primary one.
bool destroy_context(Context* context);
bool is_context(const Context* context);

/// Access to the memory of another GPU, which copies do not need here.
Status enable_peer(Context& context, int peer);
Status disable_peer(Context& context, int peer);

/// Of the calling thread; nullptr: none.
Context* current_context();
/// nullptr: none from now on.
void set_current_context(Context* context);
void push_context(Context* context);
/// nullptr: there was none.
Context* pop_context();

/// The runtime is used, and not by the driver: it makes its GPU's primary context current where
/// there is none.
void note_use_of_runtime();

}  // namespace ohm::interpose
