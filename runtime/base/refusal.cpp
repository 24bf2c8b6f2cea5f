#include "runtime/base/refusal.h"

#include <fmt/core.h>

#include <stdexcept>
#include <string>

#include "runtime/base/running_op.h"

namespace ohm {

void refuse(std::string_view text) {
  if (running_op().empty()) throw std::invalid_argument(std::string(text));
  throw std::invalid_argument(fmt::format("[{}] {}", running_op(), text));
}

}  // namespace ohm
