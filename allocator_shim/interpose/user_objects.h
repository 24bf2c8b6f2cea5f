// User objects: data of a program that graphs keep alive, with a function that ends it
// (cudaUserObject_t). CUDA calls it from a thread of its own; here the last release does.
#pragma once

#include <atomic>
#include <map>

#include "allocator_shim/interpose/handle_pool.h"

namespace ohm::interpose {

struct UserObject {
  void* data = nullptr;
  void (*destroy)(void* data) = nullptr;
  std::atomic<unsigned> references = 0;
};

HandlePool<UserObject>& user_objects();

/// False: there is no such object.
bool retain_user_object(UserObject* object, unsigned count);
/// Also false: it has fewer references.
bool release_user_object(UserObject* object, unsigned count);

/// Those of a graph, or of what was instantiated of it. A copy has as many of its own.
class UserReferences {
 public:
  UserReferences() = default;
  ~UserReferences();
  UserReferences(const UserReferences& other);
  UserReferences& operator=(const UserReferences& other) = delete;

  /// That were the caller's until now.
  void take(UserObject* object, unsigned count) { held_[object] += count; }
  /// False: it has fewer.
  bool release(UserObject* object, unsigned count);

 private:
  std::map<UserObject*, unsigned> held_;
};

}  // namespace ohm::interpose
