#include "reports/console/minimum_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/paint.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;  // objects are sorted by key

std::string bytes_text(std::int64_t bytes) {
  return human_and_exact_bytes(static_cast<std::uint64_t>(bytes));
}

std::string_view shortage_text(Shortage shortage) {
  switch (shortage) {
    case Shortage::no_device:
      return "nothing is left beside the context";
    case Shortage::oom:
      return "an out-of-memory error";
    case Shortage::handled_oom:
      return "an out-of-memory error, which the program handles";
    case Shortage::retry:
      return "a retry, after cached memory was given back";
    case Shortage::error:
      break;
  }
  return "another error";
}

std::string failure_text(const MinimumCapacity& minimum) {
  const std::string less = human_bytes(static_cast<std::uint64_t>(kMinimumGranuleBytes));
  if (!minimum.fails) return fmt::format("with {} less: {}", less, shortage_text(minimum.shortage));
  const OomResult& oom = *minimum.fails;
  return fmt::format("with {} less: {} for {} in step {}, {}:{}", less,
                     human_bytes(static_cast<std::uint64_t>(oom.requested_bytes)),
                     oom.op.empty() ? "outside any op" : oom.op, oom.step, oom.file, oom.line);
}

std::string variant_text(const VariantMinimum& variant, const ReportStyle& style) {
  std::string text = fmt::format("  {}\n", painted(variant.name, Tone::strong, style.color));
  if (variant.error) return text + indented(printable(variant.error->message), 6, style.columns);
  for (const auto& [what, minimum] : {std::pair("without a retry", &variant.without_retry),
                                      std::pair("with retries", &variant.with_retries)}) {
    text += fmt::format("    {:<16} {}\n", what, bytes_text(minimum->bytes));
    text += fmt::format("      {}\n", printable(failure_text(*minimum)));
    if (minimum->fails_rerun.empty()) continue;
    text += fmt::format("        re-run: {}\n", printable(minimum->fails_rerun));
  }
  return text;
}

Json error_json(const std::optional<ErrorResult>& error) {
  return error ? Json(printable(error->message)) : Json(nullptr);
}

Json capacity_json(const MinimumCapacity& minimum) {
  Json fails = nullptr;
  if (minimum.fails) {
    fails = {{"requested_bytes", minimum.fails->requested_bytes},
             {"op", printable(minimum.fails->op)},
             {"file", printable(minimum.fails->file)},
             {"line", minimum.fails->line},
             {"step", minimum.fails->step},
             {"device", minimum.fails->device}};
  }
  return {{"bytes", minimum.bytes},
          {"rerun", printable(minimum.rerun)},
          {"shortage", name_of(minimum.shortage)},
          {"fails_rerun",
           minimum.fails_rerun.empty() ? Json(nullptr) : Json(printable(minimum.fails_rerun))},
          {"fails", std::move(fails)}};
}

Json variant_json(const VariantMinimum& variant) {
  Json json = {{"name", variant.name},
               {"role", name_of(variant.role)},
               {"error", error_json(variant.error)}};
  if (variant.error) return json;
  json["without_retry"] = capacity_json(variant.without_retry);
  json["with_retries"] = capacity_json(variant.with_retries);
  return json;
}

}  // namespace

std::string minimum_text(const MinimumResult& result, const ReportStyle& style) {
  std::string text;
  for (const ScenarioMinimum& scenario : result.scenarios) {
    text += fmt::format("{}\n", printable(scenario.name));
    if (scenario.error) text += indented(printable(scenario.error->message), 2, style.columns);
    for (const VariantMinimum& variant : scenario.variants) text += variant_text(variant, style);
  }
  return text;
}

std::string minimum_json(const MinimumResult& result) {
  Json scenarios = Json::array();
  for (const ScenarioMinimum& scenario : result.scenarios) {
    Json variants = Json::array();
    for (const VariantMinimum& variant : scenario.variants) {
      variants.push_back(variant_json(variant));
    }
    scenarios.push_back({{"name", printable(scenario.name)},
                         {"file", printable(scenario.file)},
                         {"error", error_json(scenario.error)},
                         {"variants", std::move(variants)}});
  }
  const Json json = {{"schema", "ohm.minimum/1"},
                     {"exit_reason", exit_code(result.exit_reason).reason},
                     {"scenarios", std::move(scenarios)}};
  return json.dump(2) + "\n";
}

}  // namespace ohm::reports
