#include "allocator_shim/interpose/user_objects.h"

#include "allocator_shim/interpose/host_functions.h"

namespace ohm::interpose {
namespace {

HandlePool<UserObject> all_user_objects;

}  // namespace

HandlePool<UserObject>& user_objects() { return all_user_objects; }

bool retain_user_object(UserObject* object, unsigned count) {
  if (!user_objects().is_alive(object)) return false;
  object->references += count;
  return true;
}

bool release_user_object(UserObject* object, unsigned count) {
  if (!user_objects().is_alive(object)) return false;
  unsigned before = object->references;
  do {
    if (before < count) return false;
  } while (!object->references.compare_exchange_weak(before, before - count));
  if (before > count) return true;
  auto* const destroy = object->destroy;
  void* const data = object->data;
  user_objects().destroy(object);
  call_host_function(destroy, data);
  return true;
}

UserReferences::UserReferences(const UserReferences& other) : held_(other.held_) {
  for (const auto& [object, count] : held_) retain_user_object(object, count);
}

UserReferences::~UserReferences() {
  for (const auto& [object, count] : held_) release_user_object(object, count);
}

bool UserReferences::release(UserObject* object, unsigned count) {
  const auto found = held_.find(object);
  if (found == held_.end() || found->second < count) return false;
  found->second -= count;
  if (found->second == 0) held_.erase(found);
  return release_user_object(object, count);
}

}  // namespace ohm::interpose
