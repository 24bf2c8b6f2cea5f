#include "reports/console/console_oom.h"

#include <fmt/format.h>

#include <numeric>

#include "allocator_shim/base/format_bytes.h"
#include "reports/console/console_breakdown.h"
#include "reports/text/conclusion_text.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

std::string headline(const std::string& variant, const OomResult& oom) {
  const bool is_named = !oom.op.empty() && !oom.op.starts_with('<');  // <module> says nothing
  const std::string op = is_named ? fmt::format("for {}, ", oom.op) : "at ";
  return fmt::format("{} ran out of memory on {}{}: {} {}{}{}", variant, oom.device,
                     in_step_text(oom.step, " "), short_bytes(oom.requested_bytes), op,
                     full_place_text(oom.file, oom.line, oom.library, oom.module),
                     oom.injected ? fmt::format(" (injected by {})", oom.policy) : "");
}

std::string rows_beside_tensors(const OomResult& oom) {
  std::string rows;
  for (const auto& [name, bytes] : beside_tensors(oom)) {
    rows += fmt::format("      {} {}\n", pad_right(name, 28), pad_left(short_bytes(bytes), 11));
  }
  return rows.empty() ? "" : "    beside them\n" + rows;
}

}  // namespace

std::string console_conclusion(const VariantResult& variant, const ReportStyle& style) {
  if (!variant.conclusion) return "";
  std::string out;
  for (const std::string& line : conclusion_lines(*variant.conclusion)) {
    out += painted(indented(printable(line), 4, style.columns), Tone::warning, style.color);
  }
  return out;
}

std::string console_oom(const std::string& name, const VariantResult& variant,
                        const ReportStyle& style) {
  const OomResult& oom = *variant.oom;
  const std::int64_t total =
      std::accumulate(oom.alive_by_category.begin(), oom.alive_by_category.end(), std::int64_t{0});
  const auto strong = [&](const std::string& text) {
    return painted(text, Tone::strong, style.color);
  };
  std::string out = strong(indented(headline(name, oom), 2, style.columns));
  const bool is_printed =
      variant.error && variant.error->message.find(oom.message) != std::string::npos;
  if (!is_printed) {
    out += painted(indented(oom.message, 4, style.columns), Tone::faint, style.color);
  }
  out += console_conclusion(variant, style);
  if (total == 0) return out + "    nothing was alive\n";
  out += "    " +
         strong(fmt::format("what was alive on {}: {}", oom.device,
                            human_and_exact_bytes(static_cast<std::uint64_t>(total)))) +
         "\n" + category_rows(oom.alive_by_category);
  out += rows_beside_tensors(oom);
  out += "    " + strong("largest holders") + "\n";
  out += holder_rows(oom.holders, style.columns);
  if (oom.other_holders > 0) out += fmt::format("      and {} more\n", grouped(oom.other_holders));
  return out;
}

}  // namespace ohm::reports
