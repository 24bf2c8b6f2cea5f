// Pooled: a base of classes whose objects come and go by the thousand. The memory of those that
// went is kept for the next ones of the same class and thread, until the thread ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "runtime/base/thread_end.h"

namespace ohm {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsFreedObjects = false;  // the sanitizer is to see each use of what went
#elif defined(__has_feature)
constexpr bool kKeepsFreedObjects = !__has_feature(address_sanitizer);
#else
constexpr bool kKeepsFreedObjects = true;
#endif

/// T is the most derived class.
template <class T>
class Pooled {
 public:
  static void* operator new(std::size_t bytes) {
    if (void* const kept = free_objects.take()) return kept;
    return ::operator new(bytes);
  }
  static void* operator new(std::size_t bytes, const std::nothrow_t& tag) noexcept {
    if (void* const kept = free_objects.take()) return kept;
    return ::operator new(bytes, tag);
  }
  static void operator delete(void* object) noexcept {
    static_assert(sizeof(T) >= sizeof(void*));
    if (!kKeepsFreedObjects || !free_objects.keep(object)) ::operator delete(object);
  }

 private:
  /// A list through the objects themselves. Without a destructor, as it is of a thread.
  class FreeObjects {
   public:
    void* take() noexcept {
      Free* const taken = first_;
      if (taken == nullptr) return nullptr;
      first_ = taken->next;
      --count_;
      return taken;
    }
    bool keep(void* object) noexcept {
      // More would lie between what else is allocated when a large model has gone.
      constexpr std::size_t kMost = 4096;
      if (state_ != State::keeps && !begin()) return false;
      if (count_ == kMost) return false;
      ++count_;
      first_ = new (object) Free{first_};
      return true;
    }

   private:
    struct Free {
      Free* next;
    };
    enum class State : std::uint8_t { is_new, keeps, has_ended };

    bool begin() noexcept {
      static const ThreadEnd kEnd([](void* list) { static_cast<FreeObjects*>(list)->end(); });
      if (state_ == State::has_ended || !kEnd.note(this)) return false;
      state_ = State::keeps;
      return true;
    }
    void end() noexcept {
      while (void* const kept = take()) ::operator delete(kept);
      state_ = State::has_ended;
    }

    Free* first_ = nullptr;
    std::size_t count_ = 0;
    State state_ = State::is_new;
  };

  static inline constinit thread_local FreeObjects free_objects;
};

}  // namespace ohm
