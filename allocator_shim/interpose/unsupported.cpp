#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>

#include "allocator_shim/interpose/gpu_variable.h"
#include "allocator_shim/interpose/stub.h"

namespace ohm::interpose {

void report_unsupported(const char* name) {
  static std::mutex mutex;
  static std::set<std::string_view> reported;
  const std::lock_guard guard(mutex);
  if (!reported.insert(name).second) return;
  fmt::print(stderr, "ohm: {} is not implemented on virtual GPUs\n", name);
}

bool is_missing_allowed() {
  const char* const value = std::getenv(kAllowMissingVariable);
  return value != nullptr && *value != '\0';
}

}  // namespace ohm::interpose
