#include "reports/ci/junit_report.h"

#include <fmt/format.h>

#include "allocator_shim/base/base_name.h"
#include "reports/ci/failed_place.h"
#include "reports/ci/xml_writer.h"
#include "reports/text/cause_text.h"
#include "reports/text/measured_text.h"
#include "reports/text/unknown_values_text.h"

namespace ohm::reports {

namespace {

struct Counts {
  int tests = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
  double seconds = 0;

  void add(Verdict verdict) {
    ++tests;
    failures += verdict == Verdict::failed;
    errors += verdict == Verdict::error;
    skipped += verdict == Verdict::skipped;
  }
  void add(const Counts& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    skipped += other.skipped;
    seconds += other.seconds;
  }
};

Counts counts_of(const ScenarioResult& scenario) {
  Counts counts;
  if (scenario.error) counts.add(Verdict::error);
  for (const VariantResult& variant : scenario.variants) {
    counts.add(variant.verdict);
    counts.seconds += variant.seconds.value_or(0);
  }
  return counts;
}

void write_counts(XmlElement& element, const Counts& counts) {
  element.attribute("tests", std::to_string(counts.tests))
      .attribute("failures", std::to_string(counts.failures))
      .attribute("disabled", "0")
      .attribute("errors", std::to_string(counts.errors))
      .attribute("skipped", std::to_string(counts.skipped))
      .attribute("time", fmt::format("{:.3f}", counts.seconds));
}

std::string stem_of(const std::string& path) {
  const std::string name(base_name(path));
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

void write_property(XmlElement& properties, const std::string& name, const std::string& value) {
  XmlElement(properties, "property").attribute("name", name).attribute("value", value);
}

void write_properties(XmlElement& test_case, const VariantResult& variant) {
  XmlElement properties(test_case, "properties");
  write_property(properties, "role", std::string(name_of(variant.role)));
  write_property(properties, "outcome", std::string(name_of(variant.outcome)));
  write_property(properties, "equivalence", std::string(name_of(variant.equivalence)));
  if (!variant.devices.empty()) {
    write_property(properties, "rules", variant.devices.front().rules);
    write_property(properties, "alloc_conf", variant.devices.front().alloc_conf);
  }
  for (const DeviceResult& device : variant.devices) {
    const auto write_bytes = [&](const char* name, std::int64_t bytes) {
      write_property(properties, device.device + "." + name, std::to_string(bytes));
    };
    write_bytes("peak_allocated_bytes", device.peak_allocated_bytes);
    write_bytes("peak_reserved_bytes", device.peak_reserved_bytes);
    write_bytes("allocated_at_end_bytes", device.allocated_at_end_bytes);
    if (!device.card.empty()) write_property(properties, device.device + ".card", device.card);
    if (!device.modelled.empty()) {
      write_property(properties, device.device + ".modelled",
                     fmt::format("{}", fmt::join(device.modelled, " ")));
    }
  }
  if (!variant.unknown_values.empty()) {
    write_property(properties, "unknown_values",
                   fmt::format("{}", fmt::join(unknown_value_lines(variant), "; ")));
  }
}

std::string error_text(const ErrorResult& error) {
  std::string text = error.message + "\n";
  if (!error.traceback.empty()) text += error.traceback + "\n";
  if (!error.hint.empty()) text += error.hint + "\n";
  return text;
}

std::string details_of(const VariantResult& variant) {
  std::string text = variant.reason + "\n";
  for (const LimitResult& limit : variant.limits) text += limit_sentence(limit) + "\n";
  text += cause_text(variant);
  if (!variant.difference.empty()) text += variant.difference + "\n";
  if (variant.oom) text += variant.oom->message + "\n";
  if (variant.error) text += error_text(*variant.error);
  for (const std::string& line : unknown_value_lines(variant)) text += line + "\n";
  return text + "re-run: " + variant.rerun + "\n";
}

void write_verdict(XmlElement& test_case, const VariantResult& variant) {
  switch (variant.verdict) {
    case Verdict::passed:
    case Verdict::recorded:
      return;
    case Verdict::skipped:
      XmlElement(test_case, "skipped").attribute("message", variant.reason);
      return;
    case Verdict::failed:
      XmlElement(test_case, "failure")
          .attribute("message", variant.reason)
          .attribute("type", name_of(variant.failure_type))
          .text(details_of(variant));
      return;
    case Verdict::error:
      XmlElement(test_case, "error")
          .attribute("message", variant.reason)
          .attribute("type", name_of(variant.outcome))
          .text(details_of(variant));
      return;
  }
}

XmlElement& write_place(XmlElement& test_case, const ScenarioResult& scenario,
                        const std::string& name, const FailedPlace& place, double seconds) {
  return test_case.attribute("name", name)
      .attribute("file", repository_path(scenario, place.file))
      .attribute("line", std::to_string(place.line))
      .attribute("status", "run")
      .attribute("time", fmt::format("{:.3f}", seconds))
      .attribute("classname", "ohm." + stem_of(scenario.file));
}

void write_variant(XmlElement& suite, const ScenarioResult& scenario,
                   const VariantResult& variant) {
  XmlElement test_case(suite, "testcase");
  const bool is_bad = variant.verdict == Verdict::failed || variant.verdict == Verdict::error;
  const FailedPlace place =
      is_bad ? failed_place(scenario, variant) : FailedPlace{scenario.file, variant.line};
  write_place(test_case, scenario, variant.name, place, variant.seconds.value_or(0));
  write_properties(test_case, variant);
  write_verdict(test_case, variant);
}

void write_load_error(XmlElement& suite, const ScenarioResult& scenario) {
  XmlElement test_case(suite, "testcase");
  write_place(test_case, scenario, "load", place_of_load_error(scenario), 0);
  XmlElement(test_case, "error")
      .attribute("message", scenario.error->message)
      .attribute("type", "error")
      .text(error_text(*scenario.error));
}

void write_suite(XmlElement& suites, const ScenarioResult& scenario) {
  XmlElement suite(suites, "testsuite");
  suite.attribute("name", scenario.file);
  write_counts(suite, counts_of(scenario));
  if (scenario.error) write_load_error(suite, scenario);
  for (const VariantResult& variant : scenario.variants) write_variant(suite, scenario, variant);
}

void write_suites(std::string& out, const RunResult& result) {
  Counts all;
  for (const ScenarioResult& scenario : result.scenarios) all.add(counts_of(scenario));
  XmlElement suites(out, "testsuites");
  write_counts(suites, all);
  suites.attribute("name", "ohm");
  for (const ScenarioResult& scenario : result.scenarios) write_suite(suites, scenario);
}

}  // namespace

std::string junit_report(const RunResult& result, const ReportStyle& /*style*/) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  write_suites(out, result);
  return out;
}

}  // namespace ohm::reports
