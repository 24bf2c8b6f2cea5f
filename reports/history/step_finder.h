// Steps of a recorded program that has no marks: found in what it does again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ohm::reports {

/// Fewer repetitions are not a loop.
inline constexpr std::size_t kFewestSteps = 3;

/// `requests`: what tells each allocation of the program from others (its size and place, say), in
/// their order. Returns for each step the index of its first allocation, and at the end the one
/// behind the last step; empty where nothing repeats.
///
/// A step begins with an allocation that occurs once in each, and makes the same allocations as
/// most others: a first step that makes more, and what comes before and after, do not hide the
/// loop.
std::vector<std::size_t> find_steps(const std::vector<std::uint64_t>& requests);

}  // namespace ohm::reports
