#include "runtime/optim/lr_scheduler_row.h"

#include <fmt/core.h>

#include <limits>
#include <stdexcept>

namespace ohm::optim {

void require_count(Count count, std::string_view scheduler, std::string_view argument) {
  constexpr Count kLargest = std::numeric_limits<std::int32_t>::max();
  if (count >= 1 && count <= kLargest) return;
  throw std::invalid_argument(
      fmt::format("[{}] {} must be from 1 to {}, got {}", scheduler, argument, kLargest, count));
}

}  // namespace ohm::optim
