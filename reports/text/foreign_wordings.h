// The wordings of messages about memory that other programs than PyTorch's allocator print.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace ohm::reports {

struct ForeignWording {
  const char* source;   ///< "JAX", "vLLM"
  const char* pattern;  ///< a regular expression
  /// What it says, of the groups of the pattern: one sentence.
  std::string (*what)(const std::cmatch& match);
  const char* fix;  ///< one sentence
  /// The request in bytes, where it is told.
  std::optional<double> (*request)(const std::cmatch& match) = nullptr;
  bool is_certain = true;  ///< as of ForeignMessage
};

/// The most telling first: a log has several of them.
const std::vector<ForeignWording>& foreign_wordings();

/// What SIGKILL means, and how to confirm it.
extern const char* const kKilledText;
extern const char* const kConfirmKill;

/// What helps whoever calls XLA.
extern const char* const kSmallerJax;
extern const char* const kSmallerTensorFlow;

}  // namespace ohm::reports
