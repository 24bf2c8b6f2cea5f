#include "harness/cli/option_values.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "allocator_shim/base/nearest_name.h"
#include "allocator_shim/caching/settings.h"
#include "harness/cli/terminal.h"
#include "harness/run/runner.h"
#include "reports/model/vocabulary.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

void take_environment(engine::RunOptions& run, const RuleSet& rules) {
  for (const char* variable : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) continue;
    parsed(variable, [&] { return parse_settings(text, rules); });
    run.environment_alloc_conf = text;
    if (*text != '\0')
      write_stderr(fmt::format("ohm: allocator settings from {}: {}\n", variable, text));
    return;
  }
}

}  // namespace

int usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

OptionCheck not_negative() {
  return [](const std::string& text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, wrong] = std::from_chars(text.data(), end, value);
    return wrong == std::errc() && rest == end
               ? std::string()
               : fmt::format("\"{}\" is not a whole number from 0 to {}", text, UINT64_MAX);
  };
}

OptionCheck not_empty() {
  return [](const std::string& text) { return text.empty() ? "is empty" : std::string(); };
}

void refuse_options_but(std::span<const std::string_view> known, const OptionParser& parser,
                        std::string_view reason) {
  for (const std::string& name : parser.given()) {
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (!is_known) throw UsageError(fmt::format("{}: {}", name, reason));
  }
}

void check_allocator_options(engine::RunOptions& run) {
  const RuleSet& rules =
      parsed("--rules", [&]() -> const RuleSet& { return rule_set_or_default(run.rules); });
  if (run.alloc_conf) {
    parsed("--alloc-conf", [&] { return parse_settings(*run.alloc_conf, rules); });
  } else {
    take_environment(run, rules);
  }
}

void check_parameters_declared(const engine::RunOptions& run, const Environment& environment) {
  if (run.parameters.empty()) return;
  std::vector<std::string> declared;
  for (const engine::ListedScenario& one : engine::list_scenarios(run, environment.loader)) {
    if (one.error) return;
    for (const engine::ScenarioParameter& parameter : one.description.parameters) {
      declared.push_back(parameter.name);
    }
  }
  for (const auto& [name, value] : run.parameters) {
    if (std::find(declared.begin(), declared.end(), name) != declared.end()) continue;
    throw UsageError(fmt::format(
        "--set {}: {} no parameter of that name{}", name,
        run.files.size() == 1 ? run.files.front() + " declares"
                              : std::string("these scenarios declare"),
        declared.empty() ? std::string(", nor any other") : did_you_mean(name, declared)));
  }
}

std::string unknown_case(const engine::RunOptions& run, const Environment& environment) {
  const std::vector<std::string>& cases = run.selection.cases;
  if (std::all_of(cases.begin(), cases.end(), is_role_name)) return "";
  std::vector<std::string> known;
  for (const RoleName& role : kRoleNames) {
    known.emplace_back(role.name);
    known.emplace_back(role.group);
  }
  for (const engine::ListedScenario& one : engine::list_scenarios(run, environment.loader)) {
    if (one.error) return "";
    for (const engine::VariantDescription& variant : one.description.variants) {
      known.push_back(variant.name);
    }
  }
  for (const std::string& name : cases) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fmt::format("no variant or role is called \"{}\"{}", name, did_you_mean(name, known));
  }
  return "";
}

void check_cases_declared(const engine::RunOptions& run, const Environment& environment) {
  if (run.selection.cases.size() < 2) return;
  const std::string unknown = unknown_case(run, environment);
  if (!unknown.empty()) throw UsageError("--case: " + reports::printable(unknown));
}

}  // namespace ohm::cli
