// The value that a handle owned, whatever its type, from the handle's end until it is released.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace ohm::lua {

/// Has room for a smart pointer and allocates nothing: every handle that dies makes one.
class HeldValue {
 public:
  HeldValue() = default;
  template <class T>
  explicit HeldValue(T value) : manage_(&manage<T>) {
    static_assert(sizeof(T) <= kBytes && alignof(T) <= kAlignment);
    static_assert(std::is_nothrow_move_constructible_v<T>);
    new (bytes_.data()) T(std::move(value));
  }
  HeldValue(HeldValue&& other) noexcept { take_over(other); }
  HeldValue& operator=(HeldValue&& other) noexcept {
    if (this == &other) return *this;
    release();
    take_over(other);
    return *this;
  }
  ~HeldValue() { release(); }

  /// Destroys the value. What that calls finds nothing here any more.
  void release() {
    if (manage_ != nullptr) std::exchange(manage_, nullptr)(bytes_.data(), nullptr);
  }

  /// Moves the value out. Pre-condition: it is a T.
  template <class T>
  T take() {
    T value = std::move(*std::launder(reinterpret_cast<T*>(bytes_.data())));
    release();
    return value;
  }

 private:
  static constexpr std::size_t kBytes = 2 * sizeof(void*);
  static constexpr std::size_t kAlignment = alignof(void*);
  /// Destroys the value at `from`, after moving it to `to` unless that is null.
  using Manage = void (*)(void* from, void* to);

  template <class T>
  static void manage(void* from, void* to) {
    T* const value = std::launder(static_cast<T*>(from));
    if (to != nullptr) new (to) T(std::move(*value));
    value->~T();
  }

  void take_over(HeldValue& other) noexcept {
    manage_ = std::exchange(other.manage_, nullptr);
    if (manage_ != nullptr) manage_(other.bytes_.data(), bytes_.data());
  }

  alignas(kAlignment) std::array<std::byte, kBytes> bytes_{};
  Manage manage_ = nullptr;
};

}  // namespace ohm::lua
