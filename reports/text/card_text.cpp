#include "reports/text/card_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

std::string device_text(const CardDevice& device) {
  return fmt::format("{} ({}, compute capability {})", printable(device.name),
                     human_bytes(static_cast<std::size_t>(device.memory_bytes)),
                     printable(device.compute_capability));
}

}  // namespace

std::string card_text(const VerifiedCard& card) {
  std::vector<std::pair<std::string, int>> kinds;  // and how many of each
  for (const CardDevice& device : card.devices) {
    const std::string text = device_text(device);
    if (kinds.empty() || kinds.back().first != text) kinds.emplace_back(text, 0);
    ++kinds.back().second;
  }
  std::string text;
  for (const auto& [kind, count] : kinds) {
    if (!text.empty()) text += ", ";
    text += count == 1 ? kind : fmt::format("{} × {}", count, kind);
  }
  return fmt::format("{}, driver for CUDA {}", text, printable(card.driver));
}

std::string card_and_library_text(const VerifiedCard& card) {
  std::string text = card_text(card);
  for (const CardLibrary& library : card.libraries) {
    text += library.missing.empty()
                ? fmt::format(", {} {}", printable(library.name), printable(library.version))
                : fmt::format(", no {}", printable(library.name));
  }
  return card.kernels_missing.empty() ? text : text + ", no kernels";
}

}  // namespace ohm::reports
