#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reports/ci/failed_place.h"
#include "reports/ci/github_report.h"
#include "reports/text/cause_text.h"
#include "reports/text/text_layout.h"
#include "reports/text/unknown_values_text.h"

namespace ohm::reports {

namespace {

/// The worst first.
enum class Severity : std::uint8_t {
  broken,  ///< a script or a process
  failed,  ///< a limit
  warning,
};

struct Annotation {
  Severity severity = Severity::failed;
  std::string file;
  int line = 0;
  std::string title;
  std::string message;
};

struct Escape {
  char what;
  std::string_view text;
};

std::string escaped(std::string_view text, bool is_property) {
  constexpr Escape kEscapes[] = {// NOLINT(*-avoid-c-arrays): no size to count
                                 {'%', "%25"},
                                 {'\r', "%0D"},
                                 {'\n', "%0A"},
                                 {':', "%3A"},
                                 {',', "%2C"}};
  const std::size_t used = is_property ? 5 : 3;
  std::string out;
  for (const char c : printable(text)) {
    const Escape* const end = kEscapes + used;
    const Escape* const known =
        std::find_if(kEscapes, end, [c](const Escape& escape) { return escape.what == c; });
    if (known == end) {
      out += c;
    } else {
      out += known->text;
    }
  }
  return out;
}

std::string command(const Annotation& annotation) {
  std::string out = annotation.severity == Severity::warning ? "::warning " : "::error ";
  if (!annotation.file.empty()) {
    out += fmt::format("file={},", escaped(annotation.file, true));
    if (annotation.line > 0) out += fmt::format("line={},", annotation.line);
  }
  return out + fmt::format("title={}::{}\n", escaped(annotation.title, true),
                           escaped(annotation.message, false));
}

/// Of the reads of values that were not computed, as many as a report prints.
void add_warnings(const ScenarioResult& scenario, const VariantResult& variant,
                  std::vector<Annotation>& annotations) {
  std::size_t count = 0;
  for (const UnknownValueResult& read : by_use(variant.unknown_values)) {
    if (count++ == kMostUnknownLines) return;
    annotations.push_back({Severity::warning, repository_path(scenario, read.file), read.line,
                           fmt::format("{}: {}", scenario.name, kUnknownValuesPitfall),
                           unknown_value_sentence(read)});
  }
}

std::vector<Annotation> annotations_of(const RunResult& result) {
  std::vector<Annotation> annotations;
  for (const ScenarioResult& scenario : result.scenarios) {
    if (scenario.error) {
      const FailedPlace place = place_of_load_error(scenario);
      annotations.push_back({Severity::broken, repository_path(scenario, place.file), place.line,
                             scenario.name, scenario.error->message});
    }
    for (const VariantResult& variant : scenario.variants) {
      add_warnings(scenario, variant, annotations);
      const bool is_error = variant.verdict == Verdict::error;
      if (!is_error && variant.verdict != Verdict::failed) continue;
      Annotation one;
      one.severity = is_error ? Severity::broken : Severity::failed;
      const FailedPlace place = failed_place(scenario, variant);
      one.file = repository_path(scenario, place.file);
      one.line = place.line;
      one.title =
          fmt::format("{}.{}: {}", scenario.name, variant.name,
                      variant.failure_type == FailureType::none ? name_of(variant.outcome)
                                                                : name_of(variant.failure_type));
      one.message =
          fmt::format("{}\n{}re-run: {}", variant.reason, cause_text(variant), variant.rerun);
      annotations.push_back(std::move(one));
    }
  }
  std::stable_sort(
      annotations.begin(), annotations.end(),
      [](const Annotation& a, const Annotation& b) { return a.severity < b.severity; });
  return annotations;
}

}  // namespace

std::string github_annotations(const RunResult& result, const ReportStyle& /*style*/) {
  std::vector<Annotation> annotations = annotations_of(result);
  std::size_t more = 0;
  if (annotations.size() > kMostAnnotations) {
    more = annotations.size() - (kMostAnnotations - 1);
    annotations.resize(kMostAnnotations - 1);
  }
  std::string out;
  for (const Annotation& annotation : annotations) out += command(annotation);
  if (more > 0) {
    out += command(
        {Severity::failed, {}, 0, "ohm", fmt::format("{} more; the log has all of them", more)});
  }
  return out;
}

}  // namespace ohm::reports
