#include "harness/sweep/held_memory.h"

#include <fmt/format.h>

#include "allocator_shim/base/format_bytes.h"

namespace ohm::engine {
namespace {

std::string place_text(const Site& site) {
  const std::string op = site.op.empty() ? "outside any op" : site.op;
  return site.file.empty() ? op : fmt::format("{} {}:{}", op, site.file, site.line);
}

void add_memory(HeldMemory& memory, Machine& machine, int device, std::optional<Category> only) {
  for (const LiveBlock& block : machine.requests(device).live_blocks()) {
    if (block.pending_free || block.category != only.value_or(block.category)) continue;
    PlaceBytes& held = memory[{device, block.category, block.site}];
    held.bytes += static_cast<std::int64_t>(block.bytes);
    ++held.blocks;
  }
}

}  // namespace

HeldMemory held_memory(Machine& machine, bool host, std::optional<Category> only) {
  HeldMemory memory;
  for (int device = host ? -1 : 0; device < machine.gpu_count(); ++device) {
    add_memory(memory, machine, device, only);
  }
  return memory;
}

MemoryByPlace in_words(const HeldMemory& memory, Machine& machine) {
  MemoryByPlace words;
  for (const auto& [place, held] : memory) {
    PlaceBytes& sum =
        words[fmt::format("{} {} {}", Device::cuda(place.device).str(), name_of(place.category),
                          place_text(machine.sites().at(place.site)))];
    sum.bytes += held.bytes;
    sum.blocks += held.blocks;
  }
  return words;
}

std::string excess_text(const MemoryByPlace& now, const MemoryByPlace& allowed, Places which) {
  constexpr std::size_t kMostPlaces = 3;
  std::string text;
  std::size_t places = 0;
  for (const auto& [place, held] : now) {
    const auto known = allowed.find(place);
    if (which == Places::known && known == allowed.end()) continue;
    const std::int64_t more = held.bytes - (known == allowed.end() ? 0 : known->second.bytes);
    if (more <= 0) continue;
    if (++places > kMostPlaces) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} of {}", human_bytes(static_cast<std::size_t>(more)), place);
  }
  if (places > kMostPlaces) text += fmt::format("; {} places more", places - kMostPlaces);
  return text;
}

}  // namespace ohm::engine
