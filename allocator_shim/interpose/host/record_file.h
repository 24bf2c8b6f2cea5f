// The JSON file of what a process was seen to do, written without asking for memory.
#pragma once

#include <cstdint>

#include "allocator_shim/interpose/host/process_settings.h"
#include "allocator_shim/interpose/host/record_place.h"
#include "allocator_shim/interpose/host/record_writer.h"
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

/// Sites that matter for the peak and the failure, or all.
enum class RecordedSites : std::uint8_t { holders, all };

class RecordFile {
 public:
  /// Of this process. Nothing of it changes meanwhile.
  RecordFile(const RecordedProcess& process, RecordedSites sites)
      : process_(process), which_sites_(sites) {}

  /// To host-PID.json in the place (record_writer.h).
  void write(const RecordPlace& place);
  /// Where it cannot be written there is none.
  void write(const FixedPath& path);

 private:
  void write_to(RecordWriter& out);
  void write_process(RecordWriter& out);
  void write_failure(RecordWriter& out);
  void write_sites(RecordWriter& out);
  void write_site(RecordWriter& out, const Site& site);

  const RecordedProcess process_;
  RecordedSites which_sites_;
};

}  // namespace ohm::interpose::host
