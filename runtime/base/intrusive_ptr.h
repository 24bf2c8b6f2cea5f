// Shared ownership for storages, tensors and graph nodes: the count lies in the object.
//
// Counts are not atomic: a tensor and its graph belong to one thread.
#pragma once

#include <cstdint>
#include <utility>

namespace ohm {

/// Base of everything an IntrusivePtr can own. An object starts unowned.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  std::uint32_t use_count() const { return use_count_; }

 protected:
  ~RefCounted() = default;

 private:
  template <class T>
  friend class IntrusivePtr;
  std::uint32_t use_count_ = 0;
};

/// Owns a share of a T, which derives from RefCounted and has a `static void destroy(T*)` that
/// is called when the last share goes.
template <class T>
class IntrusivePtr {
 public:
  IntrusivePtr() = default;
  explicit IntrusivePtr(T* object) : object_(object) { retain(); }
  IntrusivePtr(const IntrusivePtr& other) : object_(other.object_) { retain(); }
  IntrusivePtr(IntrusivePtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  IntrusivePtr& operator=(const IntrusivePtr& other) {
    IntrusivePtr(other).swap(*this);
    return *this;
  }
  IntrusivePtr& operator=(IntrusivePtr&& other) noexcept {
    IntrusivePtr(std::move(other)).swap(*this);
    return *this;
  }
  ~IntrusivePtr() { release(); }

  void reset() { IntrusivePtr().swap(*this); }
  void swap(IntrusivePtr& other) noexcept { std::swap(object_, other.object_); }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const IntrusivePtr&, const IntrusivePtr&) = default;

 private:
  void retain() {
    if (object_ != nullptr) ++object_->use_count_;
  }
  void release() {
    if (object_ != nullptr && --object_->use_count_ == 0) T::destroy(object_);
  }

  T* object_ = nullptr;
};

}  // namespace ohm
