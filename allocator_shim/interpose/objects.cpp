#include "allocator_shim/interpose/objects.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace ohm::interpose {
namespace {

struct LibraryObject {
  alignas(std::max_align_t) std::array<std::byte, 1024> bytes = {};
};
HandlePool<LibraryObject> library_objects;

std::atomic<std::uint64_t> stream_ids = 2;  // those of the default streams come before
std::atomic<std::uint64_t> capture_ids = 0;
std::atomic<Capture*> newest_capture = nullptr;  // of all that there were

HandlePool<Stream> all_streams;
HandlePool<Event> all_events;
std::atomic<int> active_captures = 0;

}  // namespace

HandlePool<Stream>& streams() { return all_streams; }
HandlePool<Event>& events() { return all_events; }

Stream* create_stream(int device, unsigned flags, int priority) {
  return streams().create(device, priority, flags, ++stream_ids);
}

Capture* begin_capture(const Stream* origin, CaptureMode mode) {
  auto capture = std::make_unique<Capture>();
  capture->id = ++capture_ids;
  capture->graph = graphs().create();
  capture->origin = origin;
  capture->is_in_order = origin->flags == 0;
  capture->mode = mode;
  capture->device = origin->device;
  capture->thread = std::this_thread::get_id();
  ++active_captures;
  Capture* const made = capture.release();
  made->older = newest_capture;
  while (!newest_capture.compare_exchange_weak(made->older, made)) {
  }
  return made;
}

GraphNode* capture_work(const Stream* stream, NodeType type, NodeWork work) {
  GraphNode* const made = capture_of(stream)->graph->add(type, std::move(work), stream->captured);
  if (made != nullptr) stream->captured = {made};
  return made;
}

void join_capture(Stream* stream, const Event& event) {
  Capture* const capture = event.capture;
  if (capture_of(stream) != capture) {
    stream->captured.clear();
    capture->forks.push_back(stream);
    stream->capture = capture;
  }
  for (GraphNode* node : event.captured) {
    const auto known = std::find(stream->captured.begin(), stream->captured.end(), node);
    if (known == stream->captured.end()) stream->captured.push_back(node);
  }
}

bool are_forks_joined(const Capture& capture) {
  return capture.forks.empty() || capture.graph->ends_with(capture.origin->captured);
}

void end_capture(Capture& capture) {
  if (capture.is_active.exchange(false)) --active_captures;
}

CaptureMode& capture_mode_of_thread() {
  thread_local CaptureMode mode = CaptureMode::global;
  return mode;
}

namespace {

/// Ends those that `is_broken`. False: there is none.
template <typename Predicate>
bool invalidate_captures(const Predicate& is_broken) {
  if (active_captures == 0) return false;
  bool has_found = false;
  for (Capture* capture = newest_capture; capture != nullptr; capture = capture->older) {
    if (!capture->is_active || !is_broken(*capture)) continue;
    capture->is_invalid = true;
    has_found = true;
  }
  return has_found;
}

}  // namespace

bool breaks_capture() {
  const CaptureMode mode = capture_mode_of_thread();
  if (mode == CaptureMode::relaxed) return false;
  return invalidate_captures([mode](const Capture& capture) {
    if (capture.mode == CaptureMode::relaxed) return false;
    if (capture.thread == std::this_thread::get_id()) return true;
    return mode == CaptureMode::global && capture.mode == CaptureMode::global;
  });
}

bool breaks_ordered_capture() {
  return invalidate_captures([](const Capture& capture) { return capture.is_in_order; });
}

bool breaks_capture_of(int device) {
  return invalidate_captures([device](const Capture& capture) { return capture.device == device; });
}

void* create_object() { return library_objects.create(); }
bool is_object(const void* object) { return library_objects.is_alive(object); }
bool destroy_object(const void* object) { return library_objects.destroy(object); }

}  // namespace ohm::interpose
