// Writes a record as JSON to a file, without asking for memory: a process may end anywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "allocator_shim/interpose/host/call_stack.h"
#include "allocator_shim/interpose/host/record_place.h"

namespace ohm::interpose::host {

/// Of this process: START-PID and the ending.
class RecordName {
 public:
  RecordName(std::string_view start, std::string_view ending);
  const char* text() const { return text_.data(); }

 private:
  std::array<char, 48> text_ = {};
};

class RecordWriter {
 public:
  /// Writes to `START-PID.json` in the place what `content(writer)` writes. Where that cannot be
  /// done there is `START-PID.unwritten-ERRNO`, which is empty, in its place.
  template <typename Content>
  void write(const RecordPlace& place, std::string_view start, const Content& content) {
    const UnlimitedFiles unlimited;
    open(place.file(RecordName(start, ".json").text()));
    if (file_ >= 0) content(*this);
    if (!close()) leave_error(place, start);
  }
  /// To a file that is open already.
  template <typename Content>
  void write(int file, const Content& content) {
    open(file);
    if (file_ >= 0) content(*this);
    close();
  }

  /// Members "program", "arguments", "pid" and "parent".
  void program();
  /// Member "modules".
  void modules(std::span<const Module> modules);
  /// Member "frames": pairs of a module, from 1, and an address.
  void frames(std::span<const Frame> frames);

  void text(std::string_view text);
  void quoted(std::string_view text);
  void number(std::int64_t value);
  /// With a comma before it.
  void member(std::string_view name, std::int64_t value);

 private:
  void open(int file);
  /// Whether all of it was written.
  bool close();
  void leave_error(const RecordPlace& place, std::string_view start) const;
  void flush();

  int file_ = -1;
  int error_ = 0;  ///< the first of writing
  std::array<char, 4096> buffer_;
  std::size_t used_ = 0;
};

}  // namespace ohm::interpose::host
