// A file that is read once, from its beginning to its end: a regular file, a pipe, a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ohm {

/// Every function throws std::system_error with the reason, which is not preceded by the path.
class InputFile {
 public:
  /// What rest() reads at most: what a pipe brings may have no end.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
  /// The same of a device, as a terminal is one: what it gives was typed, or has no end.
  static constexpr std::size_t kMostBytesOfDevice = std::size_t{16} << 20U;

  /// Opens it: there is none, it may not be read, it is a directory.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Of a regular file; the others tell only at their end.
  std::optional<std::uint64_t> bytes() const { return bytes_; }

  /// The first bytes: `count`, or as many as there are. They are read again by what comes after;
  /// to be called before anything else is read.
  std::string_view beginning(std::size_t count);

  /// Fills `room` from its beginning and returns how many bytes it got: 0 only at the end.
  std::size_t read(std::span<char> room);

  /// All that is left; refuses what has no end before `most_bytes`, or those of a device.
  std::string rest(std::size_t most_bytes = kMostBytes);

 private:
  std::size_t read_file(std::span<char> room) const;

  int descriptor_;
  std::optional<std::uint64_t> bytes_;
  bool is_device_ = false;
  std::string beginning_;  ///< read already
  std::size_t taken_ = 0;  ///< of it
};

}  // namespace ohm
