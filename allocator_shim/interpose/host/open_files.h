// The open files of a process that a copy of it must not share.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/host/host_settings.h"

namespace ohm::interpose::host {

/// Where a descriptor leads.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;

  bool operator==(const FileIdentity&) const = default;
};

/// Of a path; {} where there is none.
FileIdentity identity_of(const char* path);

struct OpenFile {
  enum class Kind : std::uint8_t { output, errors, read };

  int descriptor = -1;
  Kind kind = Kind::read;
  int flags = 0;
  off_t offset = 0;
};

class OpenFiles {
 public:
  /// Of this process, whose two outputs lead to these files. FaultEnd::ended, or why no copy may
  /// have them.
  FaultEnd find(const FileIdentity& output, const FileIdentity& errors);

  /// In a copy: each gets a file, or a place in it, of its own. False where one cannot.
  bool separate(const char* output, const char* errors) const;

 private:
  static constexpr std::size_t kMostFiles = 256;

  FaultEnd add(int descriptor, const FileIdentity& output, const FileIdentity& errors);

  std::array<OpenFile, kMostFiles> files_;
  std::size_t count_ = 0;
};

}  // namespace ohm::interpose::host
