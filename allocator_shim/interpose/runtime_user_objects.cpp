// User objects of the runtime and the driver.
#include <cstdint>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/user_objects.h"

using namespace ohm::interpose;

OHM_EXPORTED Status cudaUserObjectCreate(UserObject** object, void* data, HostFunction destroy,
                                         unsigned references, unsigned flags) {
  OHM_RUNTIME_CALL;
  constexpr unsigned kNoDestructorSync = 1;  // which a program has to ask for
  const bool is_right = object != nullptr && destroy != nullptr && references != 0 &&
                        references <= INT32_MAX && flags == kNoDestructorSync;
  if (!is_right) return noted(Status::invalid_value);
  *object = user_objects().create(data, destroy, references);
  return *object != nullptr ? Status::success : noted(Status::out_of_memory);
}

OHM_EXPORTED Status cudaUserObjectRetain(UserObject* object, unsigned count) {
  OHM_RUNTIME_CALL;
  const bool is_retained = count != 0 && retain_user_object(object, count);
  return is_retained ? Status::success : noted(Status::invalid_value);
}

OHM_EXPORTED Status cudaUserObjectRelease(UserObject* object, unsigned count) {
  OHM_RUNTIME_CALL;
  const bool is_released = count != 0 && release_user_object(object, count);
  return is_released ? Status::success : noted(Status::invalid_value);
}

OHM_EXPORTED Status cudaGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count,
                                              unsigned flags) {
  OHM_RUNTIME_CALL;
  constexpr unsigned kMove = 1;  // the caller's references become the graph's
  const bool is_right = graphs().is_alive(graph) && user_objects().is_alive(object) && count != 0 &&
                        (flags & ~kMove) == 0;
  if (!is_right) return noted(Status::invalid_value);
  if (flags != kMove) retain_user_object(object, count);
  graph->references.take(object, count);
  return Status::success;
}

OHM_EXPORTED Status cudaGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count) {
  OHM_RUNTIME_CALL;
  const bool is_released =
      graphs().is_alive(graph) && count != 0 && graph->references.release(object, count);
  return is_released ? Status::success : noted(Status::invalid_value);
}

OHM_EXPORTED Status cuUserObjectCreate(UserObject** object, void* data, HostFunction destroy,
                                       unsigned references, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaUserObjectCreate(object, data, destroy, references, flags);
}

OHM_EXPORTED Status cuUserObjectRetain(UserObject* object, unsigned count) {
  OHM_CONTEXT_CALL;
  return cudaUserObjectRetain(object, count);
}

OHM_EXPORTED Status cuUserObjectRelease(UserObject* object, unsigned count) {
  OHM_CONTEXT_CALL;
  return cudaUserObjectRelease(object, count);
}

OHM_EXPORTED Status cuGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count,
                                            unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaGraphRetainUserObject(graph, object, count, flags);
}

OHM_EXPORTED Status cuGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count) {
  OHM_CONTEXT_CALL;
  return cudaGraphReleaseUserObject(graph, object, count);
}
