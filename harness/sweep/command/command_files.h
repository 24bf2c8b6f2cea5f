// The files that a command writes in a sweep: what a run in which a request failed leaves of them,
// beside what a run without faults leaves.
//
// Before each run they are put back as they were before the first one, as far as that is known:
// what a run created is removed, what was there is as a run without faults leaves it. After it they
// are as a run without faults leaves them. Small ones are kept in memory, large ones beside
// themselves, as NAME.ohm-kept-PROCESS.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/sweep/command/failing_memory.h"

namespace ohm::engine {

/// As libohm_host.so lists it (allocator_shim/interpose/host/written_files.h).
struct WrittenFile {
  std::string path;
  bool was_there = false;
  bool is_exclusive = false;  ///< created as temporary files are
  bool is_appended = false;
  bool is_folder = false;
  bool is_renamed = false;  ///< it may have been there by another name
};

/// Of one run, in order. What Python compiles is left out; a file that cannot be read lists none.
std::vector<WrittenFile> read_written_files(const std::string& list);

/// In seconds of its file system's clock, also where only its name changed; 0: it is not there.
std::time_t last_change(const std::string& path);

class CommandFiles {
 public:
  /// After a run without faults, which began then. What two of them leave otherwise is not
  /// compared, nor what was opened for writing and not written.
  void take(const std::vector<WrittenFile>& written, std::time_t began);
  bool are_none() const { return first_.empty(); }
  /// "out.txt", "out.txt and 2 more", from the current folder.
  std::string names() const;

  /// Before a run.
  void put_back() const;
  /// After a run that has written these. Throws std::runtime_error where a file cannot be written;
  /// the others are restored all the same.
  void restore(const std::vector<WrittenFile>& written) const;
  /// What the run left that it should not have; `ends_well`: with the exit status of a run without
  /// faults. Then also what it did not write.
  std::optional<FileDamage> damage(const std::vector<WrittenFile>& written, bool ends_well) const;

 private:
  struct Content {
    std::string bytes;
    mode_t mode = 0;
    bool was_there = false;  ///< before the first run
    bool is_appended = false;
    bool is_stable = true;  ///< the same in each run without faults
    bool is_in_memory = true;
  };

  void take_content(const WrittenFile& file);
  void remove_new(const std::vector<WrittenFile>& written) const;
  std::optional<FileDamage> left_over(const std::vector<WrittenFile>& written) const;
  bool is_temporary(const WrittenFile& file) const;
  std::optional<FileDamage> content_damage(const std::string& path, const Content& expected,
                                           bool is_written, bool ends_well) const;

  std::map<std::string, WrittenFile> first_;  ///< of the first run, as each was met first
  std::map<std::string, Content> left_;       ///< by runs without faults
  std::uintmax_t bytes_in_memory_ = 0;
  std::set<std::string> gone_;             ///< patterns of what they create and remove
  std::set<std::string> emptied_folders_;  ///< in which they remove all temporary files
};

}  // namespace ohm::engine
