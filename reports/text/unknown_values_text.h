// Sentences about reads of values that no kernel computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/model/run_result.h"

namespace ohm::reports {

inline constexpr std::size_t kMostUnknownLines = 3;
inline constexpr std::size_t kMostOperators = 5;  ///< of not_computed_line()

/// FindingResult::pitfall of unknown_values_finding(): no scenario explains it.
inline constexpr const char* kUnknownValuesPitfall = "values not computed";

/// "shape at train.py:9 depends on values that were not computed (0 of 5 rows selected)".
std::string unknown_value_sentence(const UnknownValueResult& read);

/// Shapes first, then branches, then values.
std::vector<UnknownValueResult> by_use(std::vector<UnknownValueResult> reads);

/// A line for each read, by_use(), at most kMostUnknownLines; the last one says how many more there
/// are. With `has_failed` the read before the error comes first. Empty without reads.
std::vector<std::string> unknown_value_lines(const std::vector<UnknownValueResult>& reads,
                                             bool has_failed = false);
std::vector<std::string> unknown_value_lines(const VariantResult& variant);
/// Of all processes of a command together.
std::vector<std::string> unknown_value_lines(const RunResult& result);

/// Which options change it: "--values cpu computes them; …". `are_computed`: that option is used.
std::string unknown_values_advice(const std::vector<UnknownValueResult>& reads, bool are_computed);
std::string unknown_values_advice(const VariantResult& variant);
std::string unknown_values_advice(const RunResult& result, bool are_computed);

/// "not computed on the CPU: quantize_per_tensor (3 calls), poisson (1 call) and 2 more", the most
/// often called first; empty where there are none.
std::string not_computed_line(const std::map<std::string, std::int64_t>& calls);

/// The variant's reads as a finding; it has none of memory.
FindingResult unknown_values_finding(const VariantResult& variant);

}  // namespace ohm::reports
