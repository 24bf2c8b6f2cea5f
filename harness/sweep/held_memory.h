// Which places of a program hold how many bytes at one moment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "harness/machine/machine.h"

namespace ohm::engine {

struct PlaceBytes {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

/// Where memory was asked for, in the machine's numbers.
struct MemoryPlace {
  int device = 0;  ///< a GPU, or -1 for the host
  Category category = Category::other;
  SiteId site = kUnknownSite;

  friend bool operator<(const MemoryPlace& a, const MemoryPlace& b) {
    return std::tie(a.device, a.category, a.site) < std::tie(b.device, b.category, b.site);
  }
};

/// In numbers: words are made when they are needed, which is seldom.
using HeldMemory = std::map<MemoryPlace, PlaceBytes>;

/// What is alive on all GPUs, and on the host when `host`; of one category, or of all.
HeldMemory held_memory(Machine& machine, bool host, std::optional<Category> only = std::nullopt);

/// By "cuda:0 activation relu scenarios/x.lua:28".
using MemoryByPlace = std::map<std::string, PlaceBytes>;

MemoryByPlace in_words(const HeldMemory& memory, Machine& machine);

/// Which places count: all, or only those where something was before.
enum class Places : std::uint8_t { all, known };

/// What `now` has more than `allowed`, as a sentence; empty when nothing.
std::string excess_text(const MemoryByPlace& now, const MemoryByPlace& allowed, Places places);

}  // namespace ohm::engine
