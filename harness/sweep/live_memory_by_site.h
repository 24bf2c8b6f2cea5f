// The bytes that each site of a program holds at one moment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "harness/machine/machine.h"

namespace ohm::engine {

struct SiteBytes {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

/// Where memory was asked for, in the machine's numbers.
struct MemorySite {
  int device = 0;  ///< a GPU, or -1 for the host
  Category category = Category::other;
  SiteId site = kUnknownSite;

  friend bool operator<(const MemorySite& a, const MemorySite& b) {
    return std::tie(a.device, a.category, a.site) < std::tie(b.device, b.category, b.site);
  }
};

/// In numbers: words are made when they are needed, which is seldom.
using LiveMemoryBySite = std::map<MemorySite, SiteBytes>;

/// What is alive on all GPUs, and on the host when `host`; of one category, or of all.
LiveMemoryBySite live_memory_by_site(Machine& machine, bool host,
                                     std::optional<Category> only = std::nullopt);

/// By "cuda:0 activation relu scenarios/x.lua:28".
using MemoryBySiteName = std::map<std::string, SiteBytes>;

MemoryBySiteName in_words(const LiveMemoryBySite& memory, Machine& machine);

/// Which places count: all, or only those where something was before.
enum class SiteScope : std::uint8_t { all, known };

/// What `now` has more than `allowed`, as a sentence; empty when nothing.
std::string excess_text(const MemoryBySiteName& now, const MemoryBySiteName& allowed,
                        SiteScope places);

}  // namespace ohm::engine
