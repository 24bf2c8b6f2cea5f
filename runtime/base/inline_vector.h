// A vector that keeps its first N elements in itself: lists of gradients, edges and saved tensors
// have one to three elements, and a heap block for each would double the cost of a small op.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <utility>

namespace ohm {

template <class T, std::size_t N>
class InlineVector {
 public:
  InlineVector() = default;
  explicit InlineVector(std::size_t count) {
    reserve(count);
    for (std::size_t i = 0; i < count; ++i) emplace_back();
  }
  InlineVector(std::initializer_list<T> items) {
    reserve(items.size());
    for (const T& item : items) emplace_back(item);
  }
  InlineVector(const InlineVector& other) {
    reserve(other.size_);
    for (const T& item : other) emplace_back(item);
  }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) *this = InlineVector(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      drop();
      take(other);
    }
    return *this;
  }
  ~InlineVector() { drop(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) return grow_and_add(T(std::forward<Args>(args)...));
    T* place = new (data_ + size_) T(std::forward<Args>(args)...);
    ++size_;
    return *place;
  }
  void push_back(T item) { emplace_back(std::move(item)); }
  void pop_back() { data_[--size_].~T(); }

  /// Destroys the elements first to last.
  void clear() {
    std::destroy_n(data_, size_);
    size_ = 0;
  }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    T* grown = std::allocator<T>().allocate(capacity);
    std::uninitialized_move_n(data_, size_, grown);
    std::destroy_n(data_, size_);
    give_back();
    data_ = grown;
    capacity_ = capacity;
  }

 private:
  T* inline_data() { return std::launder(reinterpret_cast<T*>(inline_)); }
  bool is_inline() { return data_ == inline_data(); }
  // The new element is made before the old ones move: it may refer to one of them.
  T& grow_and_add(T item) {
    reserve(capacity_ * 2);
    return emplace_back(std::move(item));
  }
  void give_back() {
    if (!is_inline()) std::allocator<T>().deallocate(data_, capacity_);
  }
  void drop() {
    clear();
    give_back();
    data_ = inline_data();
    capacity_ = N;
  }
  // Pre-condition: this holds nothing and its elements are inline.
  void take(InlineVector& other) noexcept {
    if (other.is_inline()) {
      std::uninitialized_move_n(other.data_, other.size_, data_);
      size_ = other.size_;
      other.clear();
      return;
    }
    data_ = std::exchange(other.data_, other.inline_data());
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, N);
  }

  alignas(T) unsigned char inline_[N * sizeof(T)];
  T* data_ = inline_data();
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
};

}  // namespace ohm
