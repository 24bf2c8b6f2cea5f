// ThreadEnd: what a thread does as its last with an object of its own.
//
// A destructor of a thread_local object does the same; but the C library takes memory to note it,
// when the object is first used, and ends the process where there is none.
#pragma once

#include <pthread.h>

namespace ohm {

/// One for each kind of object, never destroyed. The thread that runs main() ends nothing: its
/// objects last as long as the process.
class ThreadEnd {
 public:
  explicit ThreadEnd(void (*end)(void* object)) noexcept
      : is_known_(::pthread_key_create(&key_, end) == 0) {}
  ThreadEnd(const ThreadEnd&) = delete;
  ThreadEnd& operator=(const ThreadEnd&) = delete;

  /// `object`, not null, is ended with the calling thread. False: it is not, for want of memory.
  [[nodiscard]] bool note(void* object) const noexcept {
    return is_known_ && ::pthread_setspecific(key_, object) == 0;
  }

 private:
  pthread_key_t key_ = 0;
  bool is_known_;
};

}  // namespace ohm
