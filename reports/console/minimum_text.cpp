#include "reports/console/minimum_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/paint.h"
#include "reports/text/printable_fields.h"
#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

std::string capacity_text(std::int64_t bytes) {
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
  return fmt::format("with {} less: {} for {} in step {}, {}", less,
                     human_bytes(static_cast<std::uint64_t>(oom.requested_bytes)),
                     oom.op.empty() ? "outside any op" : oom.op, oom.step,
                     place_text(oom.file, oom.line));
}

std::string variant_text(const VariantMinimum& variant, const ReportStyle& style) {
  std::string text = fmt::format("  {}\n", painted(variant.name, Tone::strong, style.color));
  if (variant.error) return text + indented(printable(variant.error->message), 6, style.columns);
  for (const auto& [what, minimum] : {std::pair("without a retry", &variant.without_retry),
                                      std::pair("with retries", &variant.with_retries)}) {
    text += fmt::format("    {:<16} {}\n", what, capacity_text(minimum->bytes));
    text += fmt::format("      {}\n", printable(failure_text(*minimum)));
    if (minimum->fails_rerun.empty()) continue;
    text += fmt::format("        re-run: {}\n", printable(minimum->fails_rerun));
  }
  return text;
}

}  // namespace

std::string minimum_text(const MinimumResult& measured, const ReportStyle& style) {
  const MinimumResult result = printable_copy(measured);
  std::string text;
  for (const ScenarioMinimum& scenario : result.scenarios) {
    text += fmt::format("{}\n", printable(scenario.name));
    if (scenario.error) text += indented(printable(scenario.error->message), 2, style.columns);
    for (const VariantMinimum& variant : scenario.variants) text += variant_text(variant, style);
  }
  return text;
}

}  // namespace ohm::reports
