// A wording of messages about memory that other programs than PyTorch's allocator print.
#pragma once

#include <optional>
#include <regex>
#include <string>

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

}  // namespace ohm::reports
