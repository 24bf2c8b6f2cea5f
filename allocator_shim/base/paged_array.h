// An array that grows to hundreds of MB without ever being there twice.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace ohm {

/// Bytes in pages of their own: growing moves the pages, not what is in them.
class Pages {
 public:
  Pages() = default;
  ~Pages();
  Pages(Pages&& other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  char* begin() { return static_cast<char*>(begin_); }
  std::size_t bytes() const { return bytes_; }
  /// Room for at least so many. Throws std::bad_alloc.
  void grow(std::size_t bytes);
  /// Gives the memory of the first `bytes` back; what is read there is 0 from now on.
  void forget_first(std::size_t bytes);

 private:
  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

template <typename T>
class PagedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void append(std::span<const T> items) {
    if (items.empty()) return;
    const std::size_t bytes = (size_ + items.size()) * sizeof(T);
    if (bytes > pages_.bytes()) pages_.grow(bytes);
    std::memcpy(pages_.begin() + size_ * sizeof(T), items.data(), items.size() * sizeof(T));
    size_ += items.size();
  }

  /// All of it, in a vector of just its size. Leaves nothing here.
  std::vector<T> take() {
    constexpr std::size_t kStep = (std::size_t{256} << 10U) / sizeof(T);
    std::vector<T> items;
    items.reserve(size_);
    while (items.size() < size_) {
      const std::size_t first = items.size();
      const std::size_t count = size_ - first < kStep ? size_ - first : kStep;
      items.resize(first + count);
      std::memcpy(items.data() + first, pages_.begin() + first * sizeof(T), count * sizeof(T));
      pages_.forget_first(items.size() * sizeof(T));
    }
    *this = PagedArray();
    return items;
  }

 private:
  Pages pages_;
  std::size_t size_ = 0;
};

}  // namespace ohm
