#include "allocator_shim/snapshot/pickle_value.h"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace ohm {

PickleError::PickleError(std::uint64_t offset, const std::string& what)
    : std::invalid_argument(fmt::format("byte {}: {}", offset, what)), offset_(offset) {}

PickleError::PickleError(const std::string& file, const PickleError& error)
    : std::invalid_argument(file + ": " + error.what()), offset_(error.offset()) {}

double PickleValue::real() const { return std::bit_cast<double>(payload); }

std::string_view name_of(PickleValue::Kind kind) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "None",    "a boolean", "an integer",  "an integer beyond 64 bits", "a real number", "a text",
      "a tuple", "a list",    "a dictionary"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace ohm
