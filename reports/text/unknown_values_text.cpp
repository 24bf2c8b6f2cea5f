#include "reports/text/unknown_values_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"

namespace ohm::reports {

namespace {

std::string detail_text(const UnknownValueResult& read) {
  return read.detail.empty() ? "" : fmt::format(" ({})", read.detail);
}

std::string use_text(const UnknownValueResult& read) {
  return fmt::format("{} at {}", name_of(read.kind), place_text(read.file, read.line));
}

bool is_same_line(const UnknownValueResult& a, const UnknownValueResult& b) {
  return a.kind == b.kind && a.file == b.file && a.line == b.line;
}

/// Ranks read the same lines.
void add_new(const std::vector<UnknownValueResult>& more, std::vector<UnknownValueResult>& reads) {
  for (const UnknownValueResult& read : more) {
    const bool is_known =
        std::any_of(reads.begin(), reads.end(),
                    [&](const UnknownValueResult& known) { return is_same_line(known, read); });
    if (!is_known) reads.push_back(read);
  }
}

/// `last` is the read before the error; nullptr: the program did not fail.
std::vector<std::string> lines_of(std::vector<UnknownValueResult> reads,
                                  const UnknownValueResult* last) {
  std::vector<std::string> lines;
  if (last != nullptr) {
    lines.push_back(fmt::format("the last value read before the error was not computed: {}{}",
                                use_text(*last), detail_text(*last)));
    std::erase_if(reads,
                  [last](const UnknownValueResult& read) { return is_same_line(read, *last); });
  }
  for (const UnknownValueResult& read : by_use(std::move(reads)))
    lines.push_back(unknown_value_sentence(read));
  if (lines.size() > kMostUnknownLines) {
    const auto more = static_cast<std::int64_t>(lines.size() - kMostUnknownLines);
    lines.resize(kMostUnknownLines);
    lines.back() += fmt::format(", and {} more", grouped(more));
  }
  return lines;
}

const UnknownValueResult* last_of(const std::vector<UnknownValueResult>& reads) {
  const auto last = std::max_element(
      reads.begin(), reads.end(),
      [](const UnknownValueResult& a, const UnknownValueResult& b) { return a.order < b.order; });
  return last == reads.end() ? nullptr : &*last;
}

}  // namespace

std::string unknown_value_sentence(const UnknownValueResult& read) {
  return fmt::format("{} depends on values that were not computed{}", use_text(read),
                     detail_text(read));
}

std::vector<UnknownValueResult> by_use(std::vector<UnknownValueResult> reads) {
  std::stable_sort(
      reads.begin(), reads.end(),
      [](const UnknownValueResult& a, const UnknownValueResult& b) { return a.kind < b.kind; });
  return reads;
}

std::vector<std::string> unknown_value_lines(const std::vector<UnknownValueResult>& reads,
                                             bool has_failed) {
  return lines_of(reads, has_failed ? last_of(reads) : nullptr);
}

std::vector<std::string> unknown_value_lines(const VariantResult& variant) {
  return unknown_value_lines(variant.unknown_values, variant.error.has_value());
}

std::vector<std::string> unknown_value_lines(const RunResult& result) {
  std::vector<UnknownValueResult> reads;
  const UnknownValueResult* last = nullptr;
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) {
      add_new(variant.unknown_values, reads);
      if (last == nullptr && variant.error) last = last_of(variant.unknown_values);
    }
  }
  return lines_of(std::move(reads), last);
}

std::string unknown_values_advice(const std::vector<UnknownValueResult>& reads, bool are_computed) {
  const bool has_shape =
      std::any_of(reads.begin(), reads.end(),
                  [](const UnknownValueResult& read) { return read.kind == UnknownUse::shape; });
  std::string advice = are_computed ? "" : "--values cpu computes them";
  if (has_shape) {
    advice += advice.empty() ? "" : "; ";
    advice += "--assume-selected states how many rows a mask selects";
  }
  return advice.empty() ? "they come from operators that are not computed on the CPU" : advice;
}

std::string unknown_values_advice(const VariantResult& variant) {
  const auto& devices = variant.devices;
  return unknown_values_advice(variant.unknown_values, std::any_of(devices.begin(), devices.end(),
                                                                   [](const DeviceResult& device) {
                                                                     return device.values;
                                                                   }));
}

std::string unknown_values_advice(const RunResult& result, bool are_computed) {
  std::vector<UnknownValueResult> reads;
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) add_new(variant.unknown_values, reads);
  }
  return unknown_values_advice(reads, are_computed);
}

std::string not_computed_line(const std::map<std::string, std::int64_t>& calls) {
  std::vector<std::pair<std::string, std::int64_t>> rows(calls.begin(), calls.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (const auto& [name, count] : rows) {
    if (words.size() == kMostOperators) break;
    words.push_back(fmt::format("{} ({} {})", name, grouped(count), count == 1 ? "call" : "calls"));
  }
  if (words.empty()) return "";
  std::string line = fmt::format("not computed on the CPU: {}", fmt::join(words, ", "));
  if (rows.size() > words.size()) line += fmt::format(" and {} more", rows.size() - words.size());
  return line;
}

FindingResult unknown_values_finding(const VariantResult& variant) {
  FindingResult finding;
  finding.pitfall = kUnknownValuesPitfall;
  finding.what = fmt::format("{}", fmt::join(unknown_value_lines(variant), "; "));
  return finding;
}

}  // namespace ohm::reports
