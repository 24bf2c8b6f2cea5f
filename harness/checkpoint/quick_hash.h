// A hash of many bytes, eight at a time: of files that only the program that wrote them reads.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace ohm::engine {

/// Texts that differ in up to eight bytes, all of them together, have different ones.
inline std::uint64_t quick_hash(std::string_view bytes) {
  constexpr std::uint64_t kOdd = 0xd6e8feb86659fd93U;
  std::uint64_t bits = (0xcbf29ce484222325U ^ bytes.size()) * kOdd;
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t taken = bytes.size() < sizeof word ? bytes.size() : sizeof word;
    std::memcpy(&word, bytes.data(), taken);
    bytes.remove_prefix(taken);
    bits = (bits ^ word) * kOdd;
    bits ^= bits >> 32U;
  }
  return bits;
}

}  // namespace ohm::engine
