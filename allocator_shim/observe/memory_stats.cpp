#include "allocator_shim/observe/memory_stats.h"

#include <algorithm>
#include <string_view>

namespace ohm {
namespace {

struct PooledRow {
  std::string_view name;
  PooledStat MemoryStats::*stat;
};
constexpr std::array<PooledRow, 9> kPooledRows = {
    {{"allocation", &MemoryStats::allocation},
     {"segment", &MemoryStats::segment},
     {"active", &MemoryStats::active},
     {"inactive_split", &MemoryStats::inactive_split},
     {"allocated_bytes", &MemoryStats::allocated_bytes},
     {"reserved_bytes", &MemoryStats::reserved_bytes},
     {"active_bytes", &MemoryStats::active_bytes},
     {"inactive_split_bytes", &MemoryStats::inactive_split_bytes},
     {"requested_bytes", &MemoryStats::requested_bytes}}};

struct PlainRow {
  std::string_view name;
  Stat MemoryStats::*stat;
};
constexpr std::array<PlainRow, 2> kPlainRows = {
    {{"oversize_allocations", &MemoryStats::oversize_allocations},
     {"oversize_segments", &MemoryStats::oversize_segments}}};

struct ScalarRow {
  std::string_view name;
  std::int64_t MemoryStats::*value;
};
constexpr std::array<ScalarRow, 6> kScalarRows = {
    {{"num_alloc_retries", &MemoryStats::num_alloc_retries},
     {"num_ooms", &MemoryStats::num_ooms},
     {"num_sync_all_streams", &MemoryStats::num_sync_all_streams},
     {"num_device_alloc", &MemoryStats::num_device_alloc},
     {"num_device_free", &MemoryStats::num_device_free},
     {"max_split_size", &MemoryStats::max_split_size}}};

constexpr std::array<std::string_view, 3> kPoolNames = {"all", "small_pool", "large_pool"};

}  // namespace

std::vector<std::pair<std::string, Stat>> MemoryStats::named_stats() const {
  std::vector<std::pair<std::string, Stat>> named;
  for (const PooledRow& row : kPooledRows) {
    for (std::size_t pool = 0; pool < kPoolNames.size(); ++pool) {
      std::string name(row.name);
      named.emplace_back(name.append(".").append(kPoolNames[pool]), (this->*row.stat)[pool]);
    }
  }
  for (const PlainRow& row : kPlainRows) named.emplace_back(row.name, this->*row.stat);
  return named;
}

std::vector<std::pair<std::string, std::int64_t>> MemoryStats::named_scalars() const {
  std::vector<std::pair<std::string, std::int64_t>> named;
  named.reserve(kScalarRows.size());
  for (const ScalarRow& row : kScalarRows) named.emplace_back(row.name, this->*row.value);
  return named;
}

std::vector<std::pair<std::string, std::int64_t>> MemoryStats::flatten() const {
  std::vector<std::pair<std::string, std::int64_t>> flat = named_scalars();
  for (const auto& [name, stat] : named_stats()) {
    flat.emplace_back(name + ".current", stat.current);
    flat.emplace_back(name + ".peak", stat.peak);
    flat.emplace_back(name + ".allocated", stat.allocated);
    flat.emplace_back(name + ".freed", stat.freed);
  }
  std::sort(flat.begin(), flat.end());
  return flat;
}

void MemoryStats::reset_peak() {
  for (const PooledRow& row : kPooledRows) {
    for (Stat& stat : this->*row.stat) stat.reset_peak();
  }
  for (const PlainRow& row : kPlainRows) (this->*row.stat).reset_peak();
}

void MemoryStats::reset_accumulated() {
  for (const PooledRow& row : kPooledRows) {
    for (Stat& stat : this->*row.stat) stat.reset_accumulated();
  }
  for (const PlainRow& row : kPlainRows) (this->*row.stat).reset_accumulated();
  num_alloc_retries = num_ooms = num_sync_all_streams = num_device_alloc = num_device_free = 0;
}

}  // namespace ohm
