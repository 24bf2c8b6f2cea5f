#include "harness/cli/shard_option.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "harness/cli/option_values.h"

namespace ohm::cli {
namespace {

std::optional<std::size_t> whole_number(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::string_view digits = text;
  std::size_t value = 0;
  const auto [rest, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_number = wrong == std::errc() && rest == digits.data() + digits.size();
  return is_number ? std::optional(value) : std::nullopt;
}

/// GoogleTest's index counts from 0.
engine::Shard shard_of_environment() {
  const char* const total = std::getenv("GTEST_TOTAL_SHARDS");
  const char* const index = std::getenv("GTEST_SHARD_INDEX");
  if (total == nullptr && index == nullptr) return {};
  const std::optional<std::size_t> count = whole_number(total);
  const std::optional<std::size_t> number = whole_number(index);
  if (!count || !number || *number >= *count) {
    throw UsageError(
        fmt::format("GTEST_SHARD_INDEX ({}) must be a number below GTEST_TOTAL_SHARDS ({})",
                    index == nullptr ? "not set" : index, total == nullptr ? "not set" : total));
  }
  return {*number, *count};
}

}  // namespace

CLI::Option* add_shard_option(CLI::App& app, std::string& text, const std::string& parts) {
  const std::string help =
      "Only this part of the " + parts + "; ohm merge merges the JSON reports of all parts";
  return app.add_option("--shard", text, help)->type_name("I/N");
}

engine::Shard chosen_shard(const std::string& text) {
  if (text.empty()) return shard_of_environment();
  return parsed("--shard", [&] { return engine::parse_shard(text); });
}

}  // namespace ohm::cli
