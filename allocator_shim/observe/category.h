// The categories of a memory report: what the bytes of a block hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ohm {

enum class Category : std::uint8_t {
  parameter,
  gradient,
  optimizer_state,
  activation,
  input,
  workspace,
  other,
};

inline constexpr std::array<std::string_view, 7> kCategoryNames = {
    "parameter", "gradient", "optimizer_state", "activation", "input", "workspace", "other"};
inline constexpr std::size_t kCategoryCount = kCategoryNames.size();

/// Bytes of each category: index with static_cast<std::size_t>(category).
using CategoryBytes = std::array<std::int64_t, kCategoryCount>;

constexpr std::string_view name_of(Category category) {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

}  // namespace ohm
