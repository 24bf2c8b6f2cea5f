#include "allocator_shim/device/value_budget.h"

#include <fmt/format.h>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/format_bytes.h"

namespace ohm {

void ValueBudget::take(std::size_t bytes) {
  OHM_ASSERT(taken_bytes_ <= bytes_, "more was taken than there is");
  if (bytes > bytes_ - taken_bytes_) {
    throw HostRefusal(fmt::format(
        "[values] values may take {} of this computer's memory: {} are taken, and {} more are "
        "needed; --value-memory SIZE allows more, --size-only (gpu = {{values = false}}) keeps "
        "sizes alone",
        human_bytes(bytes_), human_bytes(taken_bytes_), human_bytes(bytes)));
  }
  taken_bytes_ += bytes;
}

}  // namespace ohm
