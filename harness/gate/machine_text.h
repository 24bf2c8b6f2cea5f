// The line of a baseline that says what a variant was measured on: devices, allocator, seed.
#pragma once

#include <cstdint>
#include <string>

#include "reports/model/run_result.h"

namespace ohm::engine {

std::string machine_text(const VariantResult& variant, std::uint64_t seed);

/// The first thing that is not the same in two of them, in words; of texts that differ.
std::string machine_difference(const std::string& there, const std::string& here);

}  // namespace ohm::engine
