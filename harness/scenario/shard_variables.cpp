#include "harness/scenario/shard_variables.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace ohm::engine {

namespace {

/// Two variables of one scheduler.
struct VariablePair {
  const char* index;
  const char* count;
  std::size_t first;           ///< index of the first shard
  const char* first_variable;  ///< says so instead, where it is set; nullptr: none does
  const char* step_variable;   ///< between one index and the next; nullptr: 1
};

constexpr std::array kPairs = {
    VariablePair{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", 0, "SLURM_ARRAY_TASK_MIN",
                 "SLURM_ARRAY_TASK_STEP"},
    VariablePair{"SLURM_PROCID", "SLURM_NTASKS", 0, nullptr, nullptr},
    VariablePair{"TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", 0, nullptr, nullptr},
    VariablePair{"CI_NODE_INDEX", "CI_NODE_TOTAL", 1, nullptr, nullptr},
    VariablePair{"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", 0, nullptr, nullptr}};

std::string said(const char* name, const char* value) {
  return fmt::format("{} ({})", name, value == nullptr ? "not set" : fmt::format("\"{}\"", value));
}

/// Throws where the variable is not a number.
std::size_t number_of(const char* name, const char* value) {
  const std::string_view digits = value == nullptr ? std::string_view() : value;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    throw std::invalid_argument(fmt::format("{} is not a number from 0 on", said(name, value)));
  }
  return number;
}

std::size_t number_or(std::size_t otherwise, const char* name, const Variables& variables) {
  const char* const value = name == nullptr ? nullptr : variables(name);
  return value == nullptr ? otherwise : number_of(name, value);
}

std::optional<Shard> shard_of(const VariablePair& pair, const Variables& variables) {
  const char* const index_text = variables(pair.index);
  const char* const count_text = variables(pair.count);
  if (index_text == nullptr && count_text == nullptr) return std::nullopt;
  const std::size_t index = number_of(pair.index, index_text);
  const std::size_t count = number_of(pair.count, count_text);
  const std::size_t first = number_or(pair.first, pair.first_variable, variables);
  const std::size_t step = number_or(1, pair.step_variable, variables);
  const bool is_one =
      step > 0 && index >= first && (index - first) % step == 0 && (index - first) / step < count;
  if (!is_one) {
    throw std::invalid_argument(fmt::format(
        "{} is none of {}, counted from {}{}", said(pair.index, index_text),
        said(pair.count, count_text), first, step == 1 ? "" : fmt::format(" by {}", step)));
  }
  return Shard{(index - first) / step, count};
}

}  // namespace

std::string shard_variable_names() {
  std::string names;
  for (const VariablePair& pair : kPairs) {
    names += fmt::format("{}{} of {}", names.empty() ? "" : ", ", pair.index, pair.count);
  }
  return names;
}

Shard shard_of_variables(const Variables& variables) {
  std::optional<Shard> chosen;
  const char* by = nullptr;
  for (const VariablePair& pair : kPairs) {
    const std::optional<Shard> shard = shard_of(pair, variables);
    if (!shard) continue;
    if (!chosen || (chosen->is_whole() && !shard->is_whole())) {
      chosen = shard;
      by = pair.index;
      continue;
    }
    const bool is_the_same = shard->index == chosen->index && shard->count == chosen->count;
    if (is_the_same || shard->is_whole()) continue;
    throw std::invalid_argument(
        fmt::format("{} says {}/{} and {} says {}/{}: give the shard itself, as in --shard 2/5", by,
                    chosen->index + 1, chosen->count, pair.index, shard->index + 1, shard->count));
  }
  if (chosen) return *chosen;
  throw std::invalid_argument(
      fmt::format("no variable says which shard this is; looked for {}", shard_variable_names()));
}

}  // namespace ohm::engine
