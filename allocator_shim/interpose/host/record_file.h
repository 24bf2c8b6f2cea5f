// The JSON file of what a process was seen to do, written without asking for memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "allocator_shim/interpose/host/process_settings.h"
#include "allocator_shim/interpose/host/record_place.h"
#include "allocator_shim/interpose/host/site_table.h"

namespace ohm::interpose::host {

/// Why a request failed.
enum class Refusal : std::uint32_t { none, fault, limit };

/// The first request that failed.
struct Failure {
  Refusal why = Refusal::none;
  std::uint64_t request = 0;  ///< its number
  std::uint64_t bytes = 0;
  std::uint32_t site = 0;
  std::int64_t live_bytes = 0;
};

struct RecordedProcess {
  SiteTable& sites;
  const Failure& failure;
  bool has_ended = false;  ///< false: it goes on
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::uint64_t peak_number = 0;  ///< of the last peak (Site::peak_number)
};

/// Of this process: "host-PID" and the ending.
class RecordName {
 public:
  explicit RecordName(std::string_view ending);
  const char* text() const { return text_.data(); }

 private:
  std::array<char, 48> text_ = {};
};

/// Sites that matter for the peak and the failure, or all.
enum class RecordedSites : std::uint8_t { holders, all };

class RecordFile {
 public:
  /// Of this process. Nothing of it changes meanwhile.
  RecordFile(const RecordedProcess& process, RecordedSites sites)
      : process_(process), which_sites_(sites) {}

  /// To host-PID.json in the place. Where that cannot be written there is host-PID.unwritten-ERRNO,
  /// which is empty, in its place.
  void write(const RecordPlace& place);
  /// Where it cannot be written there is none.
  void write(const FixedPath& path);

 private:
  /// Whether all of it was written to the file.
  bool write_to(int file);
  void write_process();
  void write_failure();
  void write_modules();
  void write_sites();
  void write_site(const Site& site);

  void text(std::string_view text);
  void quoted(std::string_view text);
  void number(std::int64_t value);
  void member(std::string_view name, std::int64_t value);
  void flush();

  const RecordedProcess process_;
  RecordedSites which_sites_;
  int file_ = -1;
  int error_ = 0;  ///< the first of writing
  std::array<char, 4096> buffer_;
  std::size_t used_ = 0;
};

}  // namespace ohm::interpose::host
