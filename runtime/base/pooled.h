// Pooled: a base of classes whose objects come and go by the thousand. The memory of those that
// went is kept for the next ones of the same class and thread, until the thread ends.
#pragma once

#include <cstddef>
#include <new>

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
  /// A list through the objects themselves.
  class FreeObjects {
   public:
    ~FreeObjects() {
      while (void* const kept = take()) ::operator delete(kept);
      has_ended = true;
    }
    void* take() noexcept {
      Free* const taken = first_;
      if (taken == nullptr) return nullptr;
      first_ = taken->next;
      --count_;
      return taken;
    }
    bool keep(void* object) noexcept {
      // Global objects go after those of the thread. More would lie between what else is allocated
      // when a large model has gone.
      constexpr std::size_t kMost = 4096;
      if (has_ended || count_ == kMost) return false;
      ++count_;
      first_ = new (object) Free{first_};
      return true;
    }

   private:
    struct Free {
      Free* next;
    };
    Free* first_ = nullptr;
    std::size_t count_ = 0;
  };

  static inline thread_local bool has_ended = false;
  static inline thread_local FreeObjects free_objects;
};

}  // namespace ohm
