#include "harness/judge/value_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "harness/judge/tolerance.h"

namespace ohm::engine {

namespace {

/// 64-bit FNV-1a.
class Hash {
 public:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) add_byte(static_cast<std::uint8_t>(word >> (8 * byte)));
  }
  void add_byte(std::uint8_t byte) { state_ = (state_ ^ byte) * 0x100000001b3U; }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325U;
};

/// A number alone is its own digest.
std::string exact_digest(const ReturnedValue& value) {
  if (value.values.size() == 1) return std::to_string(integer_at(value, 0));
  Hash hash;
  for (const char c : value.text) hash.add_byte(static_cast<std::uint8_t>(c));
  for (std::size_t i = 0; i < value.values.size(); ++i) {
    hash.add(static_cast<std::uint64_t>(integer_at(value, i)));
  }
  return hash.text();
}

/// +1 or -1, without a pattern: elements that change places change the projection.
double sign_of(std::size_t index) {
  const std::uint64_t mixed = (index + 1) * 0x9e3779b97f4a7c15U;
  return (std::popcount(mixed) & 1) != 0 ? -1 : 1;
}

void add_figures(const ReturnedValue& value, ValueResult& digest) {
  double squares = 0;
  double projection = 0;
  for (std::size_t i = 0; i < value.values.size(); ++i) {
    const double element = value.values[i];
    if (!std::isfinite(element)) {
      ++digest.non_finite;
      continue;
    }
    squares += element * element;
    projection += sign_of(i) * element;
  }
  digest.norm = std::sqrt(squares);
  digest.projection = projection;
}

ValueResult digest_of(const std::string& name, const ReturnedValue& value) {
  ValueResult digest;
  digest.name = name;
  digest.dtype = value.dtype;
  digest.shape = value.shape;
  if (is_exact(value)) {
    if (value.has_values) digest.digest = exact_digest(value);
  } else if (value.has_values) {
    add_figures(value, digest);
  }
  return digest;
}

std::string figure_text(const std::optional<double>& figure) {
  return figure ? fmt::format("{:.7g}", *figure) : "none";
}

}  // namespace

std::vector<ValueResult> digests_of(const ReturnedValues& values) {
  std::vector<ValueResult> digests;
  digests.reserve(values.size());
  for (const auto& [name, value] : values) digests.push_back(digest_of(name, value));
  return digests;
}

std::string digest_difference(const ValueResult& before, const ValueResult& after) {
  const auto differs = [](const char* what, const auto& is, const auto& was) {
    return fmt::format("{} {} instead of {}", what, is, was);
  };
  if (before.dtype != after.dtype) return differs("dtype", after.dtype, before.dtype);
  if (before.shape != after.shape) {
    return differs("shape", fmt::format("[{}]", fmt::join(after.shape, ", ")),
                   fmt::format("[{}]", fmt::join(before.shape, ", ")));
  }
  if (before.digest != after.digest) return differs("digest", after.digest, before.digest);
  if (before.non_finite != after.non_finite) {
    return differs("non-finite elements", after.non_finite, before.non_finite);
  }
  const double allowed = tolerance_of_value(before.dtype).relative * before.norm.value_or(0);
  const auto is_apart = [&](const std::optional<double>& was, const std::optional<double>& is) {
    return was.has_value() != is.has_value() || (was && std::abs(*was - *is) > allowed);
  };
  if (is_apart(before.norm, after.norm)) {
    return differs("norm", figure_text(after.norm), figure_text(before.norm));
  }
  if (is_apart(before.projection, after.projection)) {
    return differs("projection", figure_text(after.projection), figure_text(before.projection));
  }
  return {};
}

}  // namespace ohm::engine
