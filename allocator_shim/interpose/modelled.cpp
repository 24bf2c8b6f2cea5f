#include "allocator_shim/interpose/modelled.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>

#include "allocator_shim/interpose/exported.h"

namespace ohm::interpose {
namespace {

/// Of GPUs beyond these nothing is noted. No machine has as many.
constexpr std::size_t kMaxDevices = 256;

using Flags = std::array<std::atomic<bool>, kMostAssumptions>;  // by Assumption
std::array<Flags, kMaxDevices> assumed;  // NOLINT: threads share it by its atomics

}  // namespace

void note_assumption(int device, Assumption assumption) {
  const auto index = static_cast<std::size_t>(device);
  if (index >= assumed.size()) return;
  assumed.at(index).at(static_cast<std::size_t>(assumption)).store(true, std::memory_order_relaxed);
}

}  // namespace ohm::interpose

/// The names of the assumptions that were noted for a GPU, with spaces between them: of the calling
/// thread, until it asks again.
OHM_EXPORTED const char* ohm_modelled(int device) {
  using namespace ohm;
  thread_local std::string text;
  AssumptionSet assumptions;
  const auto index = static_cast<std::size_t>(device);
  for (const AssumptionInfo& info : assumption_table()) {
    const auto bit = static_cast<std::size_t>(info.assumption);
    if (index < interpose::assumed.size() && interpose::assumed.at(index).at(bit)) {
      assumptions.add(info.assumption);
    }
  }
  text = fmt::format("{}", fmt::join(assumptions.names(), " "));
  return text.c_str();
}
