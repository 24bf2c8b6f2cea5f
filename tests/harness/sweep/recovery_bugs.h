// The programs of tests/recovery_bugs: what a sweep has to say about each, and what it says.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/sweep/sweep_options.h"

namespace ohm::test {

struct RecoveryProgram {
  std::string file;  ///< its path
  std::string name;
  std::string verdict;    ///< that a sweep has to come to; "good": none but good ones
  std::string bug;        ///< one sentence
  std::string not_found;  ///< why no sweep finds it; empty: one does
  /// Why only other options than the default do; empty: the default does, or none.
  std::string not_by_default;
  /// Why a correct program is called wrong where there are no values; empty: it is not.
  std::string needs_values;

  bool is_bug() const { return verdict != "good"; }
};

/// Of all files of the folder, in their order. Throws std::runtime_error for a program whose
/// comment says no verdict.
std::vector<RecoveryProgram> recovery_programs(const std::string& folder);

struct CorpusSweep {
  std::int64_t faults = 0;
  /// Of each program, "file name" as of key_of(), the bad verdicts.
  std::map<std::string, std::vector<std::string>> bad_verdicts;

  /// Whether the bug is found: with the verdict that it has to get.
  bool finds(const RecoveryProgram& program) const;
  bool is_clean(const RecoveryProgram& program) const;
};

/// Sweeps all of them with these options; the files are put in. Throws std::runtime_error where one
/// cannot be swept.
CorpusSweep sweep_corpus(const std::vector<RecoveryProgram>& programs,
                         engine::SweepOptions options);

}  // namespace ohm::test
