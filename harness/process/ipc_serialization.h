// Structs as bytes between two processes of the same program.
//
// A struct takes part with one function `fields(archive, value)` that hands all its members to the
// archive; the same function writes and reads. Not a file format: both ends are one binary.
//
// Argument-dependent lookup has to find these: each in its struct's namespace, none unnamed.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ohm {

/// Written and read alike: T is the struct, const when it is written.
template <class T, class Struct>
concept Is = std::is_same_v<std::remove_const_t<T>, Struct>;

namespace engine {

/// Appends to a string.
class MessageWriter {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (write(values), ...);
  }

  std::string take() { return std::move(bytes_); }

 private:
  void write_raw(const void* data, std::size_t count) {
    bytes_.append(static_cast<const char*>(data), count);
  }
  void write(const std::string& text) {
    write(text.size());
    write_raw(text.data(), text.size());
  }
  template <class T>
  void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  template <class A, class B>
  void write(const std::pair<A, B>& pair) {
    write(pair.first);
    write(pair.second);
  }
  template <class T, std::size_t Size>
  void write(const std::array<T, Size>& values) {
    for (const T& value : values) write(value);
  }
  template <class T>
  void write(const std::vector<T>& values) {
    write(values.size());
    if constexpr (std::is_arithmetic_v<T>) {
      write_raw(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) write(value);
    }
  }
  template <class T>
  void write(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      write_raw(&value, sizeof value);
    } else {
      fields(*this, value);
    }
  }

  std::string bytes_;
};

/// Reads what a MessageWriter wrote. Throws std::runtime_error where the bytes end too early.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (read(values), ...);
  }

 private:
  const char* take(std::size_t count) {
    if (count > bytes_.size()) throw std::runtime_error("a message of a worker is cut off");
    const char* data = bytes_.data();
    bytes_.remove_prefix(count);
    return data;
  }
  std::size_t read_size() {
    std::size_t size = 0;
    read(size);
    // Every element takes a byte at least: a wrong size must not ask for memory without end.
    if (size > bytes_.size()) throw std::runtime_error("a message of a worker is cut off");
    return size;
  }
  void read(std::string& text) {
    const std::size_t size = read_size();
    text.assign(take(size), size);
  }
  template <class T>
  void read(std::optional<T>& value) {
    bool has_value = false;
    read(has_value);
    value.reset();
    if (has_value) read(value.emplace());
  }
  template <class A, class B>
  void read(std::pair<A, B>& pair) {
    read(pair.first);
    read(pair.second);
  }
  template <class T, std::size_t Size>
  void read(std::array<T, Size>& values) {
    for (T& value : values) read(value);
  }
  template <class T>
  void read(std::vector<T>& values) {
    values.resize(read_size());
    if constexpr (std::is_arithmetic_v<T>) {
      const std::size_t count = values.size() * sizeof(T);
      const char* data = take(count);
      if (count > 0) std::memcpy(values.data(), data, count);
    } else {
      for (T& value : values) read(value);
    }
  }
  template <class T>
  void read(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      std::memcpy(&value, take(sizeof value), sizeof value);
    } else {
      fields(*this, value);
    }
  }

  std::string_view bytes_;
};

template <class T>
std::string encoded_message(const T& value) {
  MessageWriter writer;
  writer(value);
  return writer.take();
}

/// Throws std::runtime_error for bytes that are not a whole message.
template <class T>
T decoded_message(std::string_view bytes) {
  T value;
  MessageReader reader(bytes);
  reader(value);
  return value;
}

}  // namespace engine

}  // namespace ohm
