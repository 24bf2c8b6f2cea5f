// Where a process leaves its record: reachable until its end, whatever the program does meanwhile.
#pragma once

#include <sys/resource.h>

#include <csignal>

#include "allocator_shim/interpose/host/fixed_path.h"

namespace ohm::interpose::host {

/// A folder that stays reachable when the program closes its descriptors, changes its root folder
/// or its user, or overwrites its environment.
class RecordPlace {
 public:
  /// Once, before the program runs.
  void open(const char* folder);

  /// A new or emptied file of the folder, to be written; -1: there is none.
  int file(const char* name) const;
  void remove(const char* name) const;

  /// Whether closing this descriptor would lose the folder: the program does not know of it.
  bool owns(int descriptor) const { return descriptor >= 0 && descriptor == folder_; }
  int descriptor() const { return folder_; }

 private:
  int opened(const char* name) const;

  FixedPath path_;
  int folder_ = -1;
};

extern RecordPlace record_place;  // NOLINT(bugprone-dynamic-static-initializers): constinit there

/// While it lives a file may be as large as the process may make it, and one that would be too
/// large is an error and no signal: what a program may not write is not for its record to end it.
class UnlimitedFiles {
 public:
  UnlimitedFiles();
  ~UnlimitedFiles();
  UnlimitedFiles(const UnlimitedFiles&) = delete;
  UnlimitedFiles& operator=(const UnlimitedFiles&) = delete;

 private:
  rlimit limit_ = {};
  sigset_t previous_ = {};
  bool was_pending_ = false;
  bool is_raised_ = false;
};

}  // namespace ohm::interpose::host
