// A file in which long work keeps what it knows, so that work that was killed goes on from there.
//
// Lines of text, each behind a checksum of its own: first what the work is, then a record for each
// piece of it that is done, in any order. A line that is torn or damaged counts as not written: its
// piece of work is done again. The records are messages between processes of one program
// (harness/process/ipc_serialization.h), so that only the program that wrote them reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/process/shared_text.h"
#include "harness/process/stopwatch.h"

namespace ohm::engine {

/// What the records are of: all that they depend on.
struct CheckpointedWork {
  std::string program;                                     ///< program_fingerprint()
  std::map<std::string, std::string> settings;             ///< by the names of the options
  std::vector<std::pair<std::string, std::string>> files;  ///< paths, and a hash of each
};

enum class CheckpointUse : std::uint8_t {
  keeps,  ///< the file is this program's alone, and made where there is none
  reads   ///< another one's, which may go on with it
};

/// Made before the workers, which are forks of this process: they add to it, too.
class Checkpoint {
 public:
  /// Opens the file, or makes it where there is none. Throws std::invalid_argument that says what
  /// to do: the file cannot be written, is none of these, is of other work, or is in use.
  Checkpoint(std::string path, const CheckpointedWork& work,
             CheckpointUse use = CheckpointUse::keeps);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  /// The record of this piece of work when the file was opened; nullopt: it has none.
  std::optional<std::string> find(const std::string& piece) const;
  /// Pre-condition: CheckpointUse::keeps. Appends a record at once; it is on the disk a second
  /// later, as long as more follow, or when sync() returns. Where it cannot be written, neither are
  /// those that follow: see lack().
  void add(const std::string& piece, std::string_view record);
  void sync();

  /// Why records could not be written, in this process or a fork of it; empty: all were.
  std::string lack() const;
  std::size_t records() const { return records_.size(); }
  /// Lines that were left out when the file was opened; a torn one at its end is not counted.
  std::size_t damaged_lines() const { return damaged_lines_; }

 private:
  void open(CheckpointUse use);
  void lock() const;
  void read(const CheckpointedWork& work, CheckpointUse use);
  void read_record(std::string_view line);
  void cut_at(std::size_t bytes) const;
  bool append(std::string_view text);

  std::string path_;
  int descriptor_ = -1;
  int* system_error_ = nullptr;        ///< shared with the forks; 0: none
  std::optional<SharedText> content_;  ///< when the file was opened
  /// By their pieces, and of each the digits in the content.
  std::unordered_map<std::string, std::string_view> records_;
  std::size_t damaged_lines_ = 0;
  Stopwatch since_sync_;
};

/// The beginning of a file of this work, before any record.
std::string checkpoint_beginning(const CheckpointedWork& work);

}  // namespace ohm::engine
