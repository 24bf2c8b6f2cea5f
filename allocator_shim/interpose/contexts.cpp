#include "allocator_shim/interpose/contexts.h"

#include <array>
#include <atomic>
#include <vector>

#include "allocator_shim/interpose/driver_call.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/handle_pool.h"

namespace ohm::interpose {
namespace {

/// No machine has as many GPUs.
constexpr std::size_t kMostContexts = 256;

HandlePool<Context> contexts;
std::array<std::atomic<Context*>, kMostContexts> primaries;
std::array<std::atomic<int>, kMostContexts> primary_holders;
std::atomic<bool> is_runtime_used = false;
/// It has made the primary context of a GPU.
std::array<std::atomic<bool>, kMostContexts> runtime_uses;
thread_local std::vector<Context*> stack;

std::size_t index_of(int device) { return static_cast<std::size_t>(device) % kMostContexts; }

bool is_primary(const Context* context) {
  return primaries.at(index_of(context->device)) == context;
}

Context* new_context(int device, unsigned flags) {
  Context* const made = contexts.create(device, flags);
  if (made == nullptr) return nullptr;
  for (std::size_t i = 0; i < kContextLimits; ++i) made->limits.at(i) = kInitialLimits.at(i);
  return made;
}

constexpr std::uint64_t bit_of(int device) {
  return std::uint64_t{1} << (static_cast<unsigned>(device) % 64);
}

/// What is destroyed elsewhere is nobody's any more.
void forget_dead_contexts() {
  while (!stack.empty() && stack.back() != nullptr && !contexts.is_alive(stack.back())) {
    stack.back() = nullptr;
  }
}

/// The GPU of a thread is its context's.
void follow(const Context* context) {
  if (context != nullptr) gpus().set_current(context->device);
}

}  // namespace

Status enable_peer(Context& context, int peer) {
  if (!gpus().has(peer) || peer == context.device) return Status::invalid_device;
  const std::uint64_t before = context.peers.fetch_or(bit_of(peer));
  return (before & bit_of(peer)) == 0 ? Status::success : Status::peer_access_already_enabled;
}

Status disable_peer(Context& context, int peer) {
  if (!gpus().has(peer)) return Status::invalid_device;
  const std::uint64_t before = context.peers.fetch_and(~bit_of(peer));
  return (before & bit_of(peer)) != 0 ? Status::success : Status::peer_access_not_enabled;
}

Context* primary_context(int device) {
  std::atomic<Context*>& place = primaries.at(index_of(device));
  Context* known = place;
  if (known != nullptr) return known;
  Context* const made = new_context(device, 0);
  if (place.compare_exchange_strong(known, made)) return made;
  contexts.destroy(made);
  return known;
}

bool is_primary_active(int device) {
  return runtime_uses.at(index_of(device)) || primary_holders.at(index_of(device)) > 0;
}

void retain_primary(int device) { ++primary_holders.at(index_of(device)); }

bool release_primary(int device) {
  std::atomic<int>& holders = primary_holders.at(index_of(device));
  int now = holders;
  while (now > 0) {
    if (holders.compare_exchange_weak(now, now - 1)) return true;
  }
  return runtime_uses.at(index_of(device));
}

void end_primary(int device) { runtime_uses.at(index_of(device)) = false; }

Context* create_context(int device, unsigned flags) {
  Context* const made = new_context(device, flags);
  if (made != nullptr) push_context(made);
  return made;
}

bool destroy_context(Context* context) {
  if (!is_context(context) || is_primary(context)) return false;
  gpus().free_all(context->device, context);
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  return contexts.destroy(context);
}

bool is_context(const Context* context) { return contexts.is_alive(context); }

Context* current_context() {
  forget_dead_contexts();
  if (!stack.empty() && stack.back() != nullptr) return stack.back();
  return is_runtime_used ? primary_context(gpus().current()) : nullptr;
}

void set_current_context(Context* context) {
  if (stack.empty()) {
    stack.push_back(context);
  } else {
    stack.back() = context;
  }
  follow(context);
}

void push_context(Context* context) {
  stack.push_back(context);
  follow(context);
}

Context* pop_context() {
  Context* const last = current_context();
  if (!stack.empty()) stack.pop_back();
  follow(current_context());
  return last;
}

void note_use_of_runtime() {
  if (DriverCall::is_within()) return;
  is_runtime_used.store(true, std::memory_order_relaxed);
  runtime_uses.at(index_of(gpus().current())).store(true, std::memory_order_relaxed);
}

}  // namespace ohm::interpose
