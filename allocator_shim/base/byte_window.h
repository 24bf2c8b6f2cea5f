// The bytes of a file in order, without the file in memory: a window that moves over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ohm {

class ByteWindow {
 public:
  /// Fills `room` from its beginning and returns how many bytes it got: 0 only at the end.
  using Read = std::function<std::size_t(std::span<char> room)>;

  /// All of `bytes`, which outlive the window.
  explicit ByteWindow(std::string_view bytes)
      : at_(bytes.data()), end_(at_ + bytes.size()), total_bytes_(bytes.size()) {}
  /// What `read` brings; `total_bytes` where it is known beforehand.
  ByteWindow(Read read, std::optional<std::uint64_t> total_bytes)
      : read_(std::move(read)), total_bytes_(total_bytes) {}

  /// Whether `count` more bytes are there, which front() then points to.
  bool has(std::size_t count) {
    return static_cast<std::size_t>(end_ - at_) >= count || refill(count);
  }
  /// Good until the next call of has().
  const char* front() const { return at_; }
  void skip(std::size_t count) { at_ += count; }

  /// Bytes skipped so far.
  std::uint64_t offset() const {
    return bytes_before_ + static_cast<std::uint64_t>(at_ - begin_of_window());
  }
  /// Bytes that are left, where that is known.
  std::optional<std::uint64_t> bytes_left() const;

 private:
  static constexpr std::size_t kWindowBytes = std::size_t{256} << 10U;

  const char* begin_of_window() const { return window_begin_; }
  std::size_t first_window_bytes() const;
  bool refill(std::size_t count);

  Read read_;
  std::vector<char> window_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* window_begin_ = at_;
  std::uint64_t bytes_before_ = 0;  ///< the window
  std::optional<std::uint64_t> total_bytes_;
};

}  // namespace ohm
