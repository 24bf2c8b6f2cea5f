#include "reports/text/conclusion_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

std::vector<std::string> conclusion_lines(const ConclusionResult& conclusion) {
  std::vector<std::string> lines = {fmt::format("Cause: {}.", conclusion.what)};
  if (!conclusion.file.empty()) {
    constexpr std::size_t kMostText = 60;
    const std::string text = shortened(conclusion.text, kMostText);
    lines.push_back(fmt::format("Line: {}{}", place_text(conclusion.file, conclusion.line),
                                text.empty() ? "" : ": " + text));
  }
  if (!conclusion.remedy.empty()) {
    lines.push_back(fmt::format("{}: {}.",
                                conclusion.is_proved ? "Remedy, proved by replay" : "Suggestion",
                                conclusion.remedy));
  }
  return lines;
}

std::vector<std::pair<std::string, std::int64_t>> beside_tensors(const OomResult& oom) {
  const std::int64_t alive =
      std::accumulate(oom.alive_by_category.begin(), oom.alive_by_category.end(), std::int64_t{0});
  const std::int64_t cached = oom.reserved_bytes - alive - oom.private_pool_bytes;
  std::vector<std::pair<std::string, std::int64_t>> rows = {
      {"private pools of CUDA graphs", oom.private_pool_bytes},
      {"the allocator's cache", cached},
      {"context, NCCL, libraries", oom.outside_bytes},
      {"other processes", oom.other_process_bytes},
      {"free on the card", oom.free_bytes},
      {"of tensors: rounding", oom.rounding_bytes}};
  std::erase_if(rows, [](const auto& row) { return row.second <= 0; });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return rows;
}

}  // namespace ohm::reports
