// Contexts of the driver: each GPU has a primary one, which the runtime uses, and programs may
// create others. Each thread has a stack of them, of which the last is current.
//
// Where the runtime was used in the process, a thread without a context has the primary one of its
// GPU: libraries mix both APIs.
#pragma once

#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

struct Context {
  int device = 0;
  unsigned flags = 0;
};

/// Of a GPU that is there.
Context* primary_context(int device);

/// Whether programs hold the primary one (cuDevicePrimaryCtxRetain), or the runtime uses it.
bool is_primary_active(int device);
void retain_primary(int device);
/// False: nobody holds it.
bool release_primary(int device);

/// A new one, which becomes current; nullptr: there is no room.
Context* create_context(int device, unsigned flags);
/// Its memory is freed. False: it is none, or a primary one.
bool destroy_context(Context* context);
bool is_context(const Context* context);

/// Of the calling thread; nullptr: none.
Context* current_context();
/// nullptr: none from now on.
void set_current_context(Context* context);
void push_context(Context* context);
/// nullptr: there was none.
Context* pop_context();

/// The runtime is used: it makes its GPU's primary context current where there is none.
void note_use_of_runtime();

}  // namespace ohm::interpose
