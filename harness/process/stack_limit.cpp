#include "harness/process/stack_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

namespace ohm::engine {

std::optional<std::string> lack_of_stack() {
  // Lua allows 200 calls from C into Lua and back, of about 2 KiB each.
  constexpr rlim_t kNeededKib = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  const rlim_t allowed_kib = limit.rlim_cur / 1024;
  if (allowed_kib >= kNeededKib) return std::nullopt;
  return fmt::format("the stack may have {} KiB, and scenarios need {} KiB: ulimit -s {}",
                     allowed_kib, kNeededKib, kNeededKib);
}

}  // namespace ohm::engine
