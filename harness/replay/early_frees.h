// The what-if of earlier frees: memory that chosen lines make is freed at the end of its step.
//
// A record says when memory was asked for and freed, not when it was used last. At the end of a
// step at the latest a loop is done with what is its own; whether a later step still uses it, only
// the program knows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/replay/what_if.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::engine {

/// "train.py:12".
struct ProgramLine {
  std::string file;  ///< as given: a path, or the end of one
  int line = 0;

  std::string text() const;
  bool is_at(std::string_view path, int line_there) const;
};

/// Throws std::invalid_argument.
ProgramLine parse_program_line(const std::string& text);

class EarlyFrees {
 public:
  /// Of this snapshot, which was read from `file`; both outlive this.
  EarlyFrees(const Snapshot& snapshot, const std::string& file,
             const std::vector<std::string>& lines);

  /// The program of a device with the frees, none where its lines make nothing there. Parameters
  /// and optimizer state belong to no step. Throws ReplayError where no steps are known.
  ChangedProgram on(const VerifiedHistory& history);

  /// After all devices: throws ReplayError that says why, where a line makes nothing that outlives
  /// its step in more than one of them.
  void refuse_what_frees_nothing() const;

 private:
  struct Line {
    ProgramLine place;
    std::size_t requests = 0;
    std::size_t lasting = 0;  ///< parameters and optimizer state
    std::size_t freed = 0;
    bool is_of_several_steps = false;  ///< those that are freed, on one device
  };

  std::string nearest_lines(const ProgramLine& place) const;

  const Snapshot& snapshot_;
  const std::string& file_;
  std::vector<Line> lines_;
};

}  // namespace ohm::engine
