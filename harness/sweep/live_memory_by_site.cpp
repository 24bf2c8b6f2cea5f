#include "harness/sweep/live_memory_by_site.h"

#include <fmt/format.h>

#include "allocator_shim/base/format_bytes.h"

namespace ohm::engine {
namespace {

std::string place_text(const Site& site) {
  const std::string op = site.op.empty() ? "outside any op" : site.op;
  return site.file.empty() ? op : fmt::format("{} {}:{}", op, site.file, site.line);
}

void add_memory(LiveMemoryBySite& memory, Machine& machine, int device,
                std::optional<Category> only) {
  for (const LiveBlock& block : machine.requests(device).live_blocks()) {
    if (block.pending_free || block.category != only.value_or(block.category)) continue;
    SiteBytes& held = memory[{device, block.category, block.site}];
    held.bytes += static_cast<std::int64_t>(block.bytes);
    ++held.blocks;
  }
}

}  // namespace

LiveMemoryBySite live_memory_by_site(Machine& machine, bool host, std::optional<Category> only) {
  LiveMemoryBySite memory;
  for (int device = host ? -1 : 0; device < machine.gpu_count(); ++device) {
    add_memory(memory, machine, device, only);
  }
  return memory;
}

MemoryBySiteName in_words(const LiveMemoryBySite& memory, Machine& machine) {
  MemoryBySiteName words;
  for (const auto& [place, held] : memory) {
    SiteBytes& sum =
        words[fmt::format("{} {} {}", Device::cuda(place.device).str(), name_of(place.category),
                          place_text(machine.sites().at(place.site)))];
    sum.bytes += held.bytes;
    sum.blocks += held.blocks;
  }
  return words;
}

std::string excess_text(const MemoryBySiteName& now, const MemoryBySiteName& allowed,
                        SiteScope which) {
  constexpr std::size_t kMostPlaces = 3;
  std::string text;
  std::size_t places = 0;
  for (const auto& [place, held] : now) {
    const auto known = allowed.find(place);
    if (which == SiteScope::known && known == allowed.end()) continue;
    const std::int64_t more = held.bytes - (known == allowed.end() ? 0 : known->second.bytes);
    if (more <= 0) continue;
    if (++places > kMostPlaces) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} of {}", human_bytes(static_cast<std::size_t>(more)), place);
  }
  if (places > kMostPlaces) text += fmt::format("; {} more places", places - kMostPlaces);
  return text;
}

}  // namespace ohm::engine
