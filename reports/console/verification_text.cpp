#include "reports/console/verification_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/card_text.h"
#include "reports/text/printable_fields.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

std::string memory_text(std::int64_t bytes) { return human_bytes(static_cast<std::size_t>(bytes)); }

std::string events_text(const std::string& name, const VerifiedVariant& variant) {
  std::string text = fmt::format(
      "differs  {}: {} events and a peak of {} bytes on the virtual GPU, "
      "{} and {} on the card\n",
      name, variant.virtual_events, variant.virtual_peak_bytes, variant.card_events,
      variant.card_peak_bytes);
  for (const EventDifference& difference : variant.differences) {
    text += fmt::format("         only on the {}, event {}: {}\n",
                        difference.is_on_card ? "card" : "virtual GPU", difference.ordinal,
                        printable(difference.event));
  }
  if (variant.other_differences > 0) {
    text += fmt::format("         and {} more\n", variant.other_differences);
  }
  return text;
}

std::string text_of(const VerifiedVariant& variant) {
  const std::string name = printable(variant.name);
  if (!variant.error.empty()) {
    return fmt::format("error    {}: {}\n", name, printable(variant.error));
  }
  if (variant.agrees()) {
    return fmt::format("same     {}: {} events, peak {}\n", name, variant.card_events,
                       memory_text(variant.card_peak_bytes));
  }
  std::string text;
  if (!variant.value_difference.empty()) {
    text += fmt::format("differs  {}: values: {}\n", name, printable(variant.value_difference));
  }
  return variant.has_same_events() ? text : text + events_text(name, variant);
}

std::string text_of(const LibraryWorkspace& workspace) {
  return fmt::format("library  {}: workspaces of up to {} ({} bytes) on the card, {} calls\n",
                     printable(workspace.op), memory_text(workspace.largest_bytes),
                     workspace.largest_bytes, workspace.calls);
}

std::string text_of(const CardLibrary& library) {
  if (library.missing.empty())
    return fmt::format("library  {} {}\n", printable(library.name), printable(library.version));
  return fmt::format("library  {}: the host computes instead: {}\n", printable(library.name),
                     printable(library.missing));
}

/// What the host was needed for, the most often first.
std::string traffic_text(const std::vector<HostTraffic>& by_op) {
  const auto amount = [](const HostTraffic& moved) {
    return fmt::format("{} times, {}", moved.times, memory_text(moved.bytes));
  };
  HostTraffic all;
  for (const HostTraffic& moved : by_op) {
    all.times += moved.times;
    all.bytes += moved.bytes;
  }
  std::string text = fmt::format("values copied from the card to the host: {}\n", amount(all));
  for (const HostTraffic& moved : by_op) {
    text +=
        fmt::format("         {}: {}\n",
                    moved.op.empty() ? "the program itself" : printable(moved.op), amount(moved));
  }
  return text;
}

std::string text_of(const CardVerification& table) {
  std::string text = fmt::format("card     {}\n", card_text(table.card));
  for (const VerifiedVariant& variant : table.variants) text += text_of(variant);
  for (const LibraryWorkspace& workspace : CardVerification::workspaces(table)) {
    text += text_of(workspace);
  }
  for (const CardLibrary& library : table.card.libraries) text += text_of(library);
  if (!table.card.kernels_missing.empty()) {
    text += fmt::format("kernels: the host computes instead: {}\n",
                        printable(table.card.kernels_missing));
  }
  const auto same = std::count_if(table.variants.begin(), table.variants.end(),
                                  [](const auto& variant) { return variant.agrees(); });
  text += fmt::format("{} of {} variants have the same events and values on both\n", same,
                      table.variants.size());
  return text + traffic_text(CardVerification::to_host(table));
}

}  // namespace

std::string verification_text(const VerificationResult& measured) {
  const VerificationResult result = printable_copy(measured);
  std::string text;
  for (const CardVerification& table : result.cards) {
    if (!text.empty()) text += "\n";
    text += text_of(table);
  }
  return text;
}

}  // namespace ohm::reports
