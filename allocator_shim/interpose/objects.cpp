#include "allocator_shim/interpose/objects.h"

#include <cstdlib>
#include <memory>

namespace ohm::interpose {
namespace {

constexpr std::size_t kObjectBytes = 1024;

std::atomic<std::uint64_t> stream_ids = 2;  // those of the default streams come before
std::atomic<std::uint64_t> capture_ids = 0;
std::atomic<Capture*> newest_capture = nullptr;  // of all that there were

HandlePool<Stream> all_streams;
HandlePool<Event> all_events;
HandlePool<Graph> all_graphs;
HandlePool<ExecutableGraph> all_executable_graphs;

}  // namespace

HandlePool<Stream>& streams() { return all_streams; }
HandlePool<Event>& events() { return all_events; }
HandlePool<Graph>& graphs() { return all_graphs; }
HandlePool<ExecutableGraph>& executable_graphs() { return all_executable_graphs; }

Stream* create_stream(int device, unsigned flags, int priority) {
  return streams().create(device, priority, flags, ++stream_ids);
}

Capture* begin_capture() {
  auto capture = std::make_unique<Capture>();
  capture->id = ++capture_ids;
  capture->graph = graphs().create();
  Capture* const made = capture.release();
  made->older = newest_capture;
  while (!newest_capture.compare_exchange_weak(made->older, made)) {
  }
  return made;
}

void* create_object() { return std::calloc(1, kObjectBytes); }
void destroy_object(void* object) { std::free(object); }

}  // namespace ohm::interpose
