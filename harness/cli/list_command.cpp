#include "harness/cli/list_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "allocator_shim/fault/fault_error.h"
#include "allocator_shim/fault/fault_policy.h"
#include "harness/cli/scenario_option.h"
#include "harness/cli/terminal.h"
#include "harness/judge/measurement.h"
#include "harness/process/interrupt.h"
#include "harness/run/runner.h"
#include "harness/scenario/scenario_names.h"
#include "reports/reporter.h"
#include "reports/text/json_text.h"
#include "reports/text/paint.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

using engine::ListedScenario;
using engine::ScenarioDescription;
using engine::VariantDescription;

struct ListArguments {
  std::vector<std::string> files;
  bool json = false;
  bool measurements = false;
  bool reporters = false;
  bool faults = false;
};

/// Two columns, the first as wide as its longest cell.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, reports::display_width(row.first));
  std::string out;
  for (const auto& [left, right] : rows) {
    out += fmt::format("{}  {}\n", reports::pad_right(left, width), right);
  }
  return out;
}

std::string measurements_text() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const engine::Measurement& measurement : engine::measurements()) {
    rows.emplace_back(
        fmt::format("{}{}", measurement.name, measurement.has_index ? "[cuda:N]" : ""),
        measurement.help);
  }
  return two_columns(rows);
}

std::string reporters_text() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const reports::Reporter& reporter : reports::reporters()) {
    rows.emplace_back(reporter.name, reporter.help);
  }
  return two_columns(rows);
}

std::string faults_text() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const FaultPolicyRow& policy : fault_policies())
    rows.emplace_back(policy.usage, policy.help);
  for (const FaultErrorRow& error : kFaultErrors) {
    rows.emplace_back(
        fmt::format("-> error({})", error.name),
        fmt::format("{}{}", error.help, error.is_sticky ? "; later calls fail, too" : ""));
  }
  return two_columns(rows);
}

std::string gpu_text(const engine::GpuSpec& gpu) {
  return fmt::format("{} × {}{}{}", gpu.count, gpu.profile,
                     gpu.capacity_bytes ? fmt::format(",capacity={}", *gpu.capacity_bytes) : "",
                     gpu.values ? "" : ", size-only");
}

std::string variant_details(const VariantDescription& variant) {
  std::vector<std::string> parts;
  if (!variant.of.empty()) parts.push_back("of " + variant.of);
  if (!variant.trades.empty()) parts.push_back("trades " + variant.trades);
  if (variant.raises) parts.push_back(fmt::format("raises \"{}\"", *variant.raises));
  if (variant.returns) {
    std::vector<std::string> names;
    for (const auto& [name, value] : *variant.returns) names.push_back(name);
    parts.push_back(fmt::format("returns {}", fmt::join(names, ", ")));
  }
  if (!variant.fault.empty()) parts.push_back("fault " + variant.fault);
  if (variant.gpu) parts.push_back("on " + gpu_text(*variant.gpu));
  parts.insert(parts.end(), variant.limits.begin(), variant.limits.end());
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// ", 1 to 1024: samples at once".
std::string parameter_details(const engine::ScenarioParameter& parameter) {
  std::string out;
  if (parameter.least && parameter.most) {
    out = fmt::format(", {:g} to {:g}", *parameter.least, *parameter.most);
  } else if (parameter.least) {
    out = fmt::format(", at least {:g}", *parameter.least);
  } else if (parameter.most) {
    out = fmt::format(", at most {:g}", *parameter.most);
  }
  return parameter.summary.empty() ? out : out + ": " + parameter.summary;
}

std::string scenario_text(const ScenarioDescription& scenario, bool color) {
  std::size_t width = 0;
  for (const VariantDescription& variant : scenario.variants) {
    width = std::max(width, variant.name.size());
  }
  std::string out = fmt::format(
      "{}  {}\n", reports::painted(reports::printable(scenario.name), reports::Tone::strong, color),
      reports::printable(scenario.summary));
  out += fmt::format("  {} · {}\n", reports::printable(scenario.file),
                     reports::printable(gpu_text(scenario.gpu)));
  for (const engine::ScenarioParameter& parameter : scenario.parameters) {
    out += fmt::format("  parameter   {} = {:.17g}{}\n", parameter.name, parameter.value,
                       reports::printable(parameter_details(parameter)));
  }
  for (const std::string& limit : scenario.limits) {
    out += fmt::format("  limit       {}\n", reports::printable(limit));
  }
  for (const VariantDescription& variant : scenario.variants) {
    std::string row = fmt::format("  {:<10}  {:<{}}  {}", name_of(variant.role), variant.name,
                                  width, reports::printable(variant_details(variant)));
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  return out + "\n";
}

std::string all_text(const std::vector<ListedScenario>& listed) {
  const bool color = wants_color("auto");
  std::string out;
  std::size_t scenarios = 0;
  std::size_t variants = 0;
  for (const ListedScenario& one : listed) {
    if (one.error) continue;
    out += scenario_text(one.description, color);
    ++scenarios;
    variants += one.description.variants.size();
  }
  return out + fmt::format("{} scenario{}, {} variant{}\n", scenarios, scenarios == 1 ? "" : "s",
                           variants, variants == 1 ? "" : "s");
}

using Json = nlohmann::json;

Json gpu_json(const engine::GpuSpec& gpu) {
  Json object = {{"profile", gpu.profile}, {"count", gpu.count}, {"values", gpu.values}};
  if (gpu.capacity_bytes) object["capacity_bytes"] = *gpu.capacity_bytes;
  return object;
}

Json variant_json(const VariantDescription& variant) {
  Json object = {{"name", variant.name},
                 {"role", std::string(name_of(variant.role))},
                 {"line", variant.line},
                 {"limits", variant.limits}};
  if (!variant.of.empty()) object["of"] = variant.of;
  if (!variant.trades.empty()) object["trades"] = variant.trades;
  if (variant.raises) object["raises"] = *variant.raises;
  if (!variant.fault.empty()) object["fault"] = variant.fault;
  if (variant.gpu) object["gpu"] = gpu_json(*variant.gpu);
  return object;
}

Json parameter_json(const engine::ScenarioParameter& parameter) {
  Json object = {{"name", parameter.name}, {"default", parameter.default_value}};
  if (parameter.is_integer) object["default"] = static_cast<std::int64_t>(parameter.default_value);
  if (parameter.least) object["min"] = *parameter.least;
  if (parameter.most) object["max"] = *parameter.most;
  if (!parameter.summary.empty()) object["summary"] = parameter.summary;
  return object;
}

std::string all_json(const std::vector<ListedScenario>& listed) {
  Json scenarios = Json::array();
  for (const ListedScenario& one : listed) {
    if (one.error) continue;
    Json variants = Json::array();
    for (const VariantDescription& variant : one.description.variants) {
      variants.push_back(variant_json(variant));
    }
    Json parameters = Json::array();
    for (const engine::ScenarioParameter& parameter : one.description.parameters) {
      parameters.push_back(parameter_json(parameter));
    }
    scenarios.push_back({{"name", one.description.name},
                         {"summary", one.description.summary},
                         {"file", one.description.file},
                         {"gpu", gpu_json(one.description.gpu)},
                         {"limits", one.description.limits},
                         {"parameters", parameters},
                         {"variants", variants}});
  }
  const Json json = {{"schema", "ohm.list/1"}, {"scenarios", scenarios}};
  return reports::json_document(json);
}

ExitReason print_errors(const std::vector<ListedScenario>& listed) {
  ExitReason reason = ExitReason::passed;
  if (listed.empty()) {
    print_error("there is no scenarios/*.lua here; name the files to list");
    reason = ExitReason::nothing_selected;
  }
  for (const ListedScenario& one : listed) {
    if (!one.error) continue;
    reason = worse_of(reason, one.error_reason);
    print_error(one.error->message);
    print_hint(one.error->hint);
  }
  return reason;
}

int list(const ListArguments& arguments, const Environment& environment) {
  if (arguments.measurements) write_stdout(measurements_text());
  if (arguments.reporters) write_stdout(reporters_text());
  if (arguments.faults) write_stdout(faults_text());
  if (arguments.measurements || arguments.reporters || arguments.faults) return 0;
  engine::RunOptions options;
  options.files = arguments.files.empty() ? engine::default_scenario_files() : arguments.files;
  const std::vector<ListedScenario> listed = engine::list_scenarios(options, environment.loader);
  if (const int signal = engine::InterruptGuard::signal(); signal != 0) {
    return process_code(ExitReason::interrupted, signal);
  }
  if (arguments.json) {
    print_text(all_json(listed), reports::kAsJson);
  } else {
    print_text(all_text(listed));
  }
  return exit_code(print_errors(listed)).code;
}

}  // namespace

std::function<int()> setup_list(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<ListArguments>();
  add_scenario_files(parser, arguments->files,
                     "Scenarios, by name or file (default: scenarios/*.lua, or those of ohm)");
  parser.add_flag("--json", arguments->json, "Print JSON (ohm.list/1)");
  parser.add_flag("--measurements", arguments->measurements,
                  "List the measurements that a limit can name");
  parser.add_flag("--reporters", arguments->reporters, "List the formats of --report");
  parser.add_flag("--faults", arguments->faults, "List the policies of fault plans");
  return [arguments, &environment] { return list(*arguments, environment); };
}

}  // namespace ohm::cli
