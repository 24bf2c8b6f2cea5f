#include "allocator_shim/base/assert.h"

#include <fmt/format.h>

#include <stdexcept>

#include "allocator_shim/base/base_name.h"

namespace ohm {

void assertion_failed(const char* condition, const char* what, const char* file, int line) {
  throw std::logic_error(fmt::format("internal error: {} ({}:{}: {} does not hold)", what,
                                     base_name(file), line, condition));
}

}  // namespace ohm
