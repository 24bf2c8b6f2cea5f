// The JSON file of what a process was seen to do, written without asking for memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "allocator_shim/interpose/host/process_settings.h"

namespace ohm::interpose::host {

class Watch;
struct Frame;
struct Site;

class RecordFile {
 public:
  /// Of the watch, which does not change meanwhile. An empty path: host-PID.json in the folder of
  /// its settings. Where it cannot be written there is none.
  RecordFile(Watch& watch, const FixedPath& path);

  void write(bool has_ended);

 private:
  void write_process(bool has_ended);
  void write_failure();
  void write_modules();
  void write_sites();
  void write_site(const Site& site);

  void text(std::string_view text);
  void quoted(std::string_view text);
  void number(std::int64_t value);
  void member(std::string_view name, std::int64_t value);
  void flush();

  Watch& watch_;
  FixedPath path_;
  bool has_all_sites_;
  int file_ = -1;
  std::array<char, 4096> buffer_;
  std::size_t used_ = 0;
};

}  // namespace ohm::interpose::host
