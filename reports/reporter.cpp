#include "reports/reporter.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "reports/ci/github_report.h"
#include "reports/ci/junit_report.h"
#include "reports/console/console_report.h"
#include "reports/html/html_report.h"
#include "reports/json/json_report.h"
#include "reports/json/trace_report.h"

namespace ohm::reports {

namespace {

constexpr std::array<Reporter, 7> kReporters = {{
    {"console", "The table of the terminal, as text", Recording::figures, console_report},
    {"github", "Annotations of GitHub Actions: ::error commands for what failed",
     Recording::figures, github_annotations},
    {"html", "Pictures: memory, blocks and segments over time; one file that opens from disk",
     Recording::history, html_report},
    {"json", "Everything that was measured, for programs (ohm.result/1)", Recording::peaks,
     json_report},
    {"junit", "JUnit XML in GoogleTest's flavour, for CI servers", Recording::figures,
     junit_report},
    {"markdown", "What a step of GitHub Actions shows as its summary", Recording::figures,
     github_summary},
    {"trace", "Counters and slices for ui.perfetto.dev and chrome://tracing", Recording::history,
     trace_report},
}};

}  // namespace

std::span<const Reporter> reporters() { return kReporters; }

const Reporter& find_reporter(std::string_view name) {
  std::vector<std::string> known;
  for (const Reporter& reporter : kReporters) {
    if (reporter.name == name) return reporter;
    known.emplace_back(reporter.name);
  }
  throw std::invalid_argument(fmt::format("unknown report format \"{}\"{}; known: {}", name,
                                          did_you_mean(name, known), fmt::join(known, ", ")));
}

}  // namespace ohm::reports
