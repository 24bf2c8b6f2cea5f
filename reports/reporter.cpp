#include "reports/reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "reports/ci/code_quality_report.h"
#include "reports/ci/github_report.h"
#include "reports/ci/junit_report.h"
#include "reports/console/console_report.h"
#include "reports/html/html_report.h"
#include "reports/html/sweep_page.h"
#include "reports/json/json_report.h"
#include "reports/json/sweep_json.h"
#include "reports/json/sweep_stacks.h"
#include "reports/json/trace_report.h"

namespace ohm::reports {

namespace {

constexpr std::array<Reporter, 8> kReporters = {{
    {"codequality", "GitLab's code quality report, for the lines of a merge request", "",
     Recording::figures, &kAsJson, code_quality_report},
    {"console", "The table of the terminal, as text", ".txt", Recording::figures, &kForPeople,
     console_report},
    {"github", "Annotations of GitHub Actions: ::error commands for what failed", "",
     Recording::figures, nullptr, github_annotations},
    {"html", "Pictures: memory, blocks and segments over time; one file that opens from disk",
     ".html .htm", Recording::history, &kAsMarkup, html_report},
    {"json", "Everything that was measured, for programs (ohm.result/1)", ".json", Recording::peaks,
     &kAsJson, json_report},
    {"junit", "JUnit XML in GoogleTest's flavour, for CI servers", ".xml", Recording::figures,
     &kAsMarkup, junit_report},
    {"markdown", "What a step of GitHub Actions shows as its summary", "", Recording::figures,
     &kForPeople, github_summary},
    {"trace", "Counters and slices for ui.perfetto.dev and chrome://tracing", "",
     Recording::history, &kAsJson, trace_report},
}};

constexpr std::array<SweepReporter, 3> kSweepReporters = {{
    {"html", "Heat maps: the verdicts at each place of the program", &kAsMarkup, sweep_html},
    {"json", "Every point and every fault, for programs (ohm.sweep/1)", &kAsJson, sweep_json},
    {"stacks", "Points under no handler, collapsed stacks for a flame graph", &kForPeople,
     sweep_stacks},
}};

template <class Rows>
const auto& row_named(const Rows& rows, std::string_view name) {
  std::vector<std::string> known;
  for (const auto& row : rows) {
    if (row.name == name) return row;
    known.emplace_back(row.name);
  }
  throw std::invalid_argument(fmt::format("unknown report format \"{}\"{}; known: {}", name,
                                          did_you_mean(name, known), fmt::join(known, ", ")));
}

/// In their order.
std::vector<std::string_view> split_at_blanks(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

std::span<const Reporter> reporters() { return kReporters; }
std::span<const SweepReporter> sweep_reporters() { return kSweepReporters; }

const Reporter& find_reporter(std::string_view name) { return row_named(kReporters, name); }
const SweepReporter& find_sweep_reporter(std::string_view name) {
  return row_named(kSweepReporters, name);
}

const CommandSpelling* command_spelling(std::string_view format) {
  for (const Reporter& reporter : kReporters) {
    if (reporter.name == format) return reporter.spelling;
  }
  return find_sweep_reporter(format).spelling;
}

const Reporter* reporter_of_extension(std::string_view extension) {
  for (const Reporter& reporter : kReporters) {
    for (const std::string_view known : split_at_blanks(reporter.extensions)) {
      if (known == extension) return &reporter;
    }
  }
  return nullptr;
}

std::string known_extensions() {
  std::string known;
  for (const Reporter& reporter : kReporters) {
    for (const std::string_view extension : split_at_blanks(reporter.extensions)) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", extension);
    }
  }
  return known;
}

}  // namespace ohm::reports
