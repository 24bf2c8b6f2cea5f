#include "allocator_shim/base/assert.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

namespace ohm {

void assertion_failed(const char* condition, const char* what, const char* file, int line) {
  const std::string_view path(file);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  throw std::logic_error(
      fmt::format("internal error: {} ({}:{}: {} does not hold)", what, name, line, condition));
}

}  // namespace ohm
