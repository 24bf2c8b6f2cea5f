#include <fmt/format.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <string_view>

#include "allocator_shim/interpose/stub.h"

namespace ohm::interpose {

void report_unsupported(const char* name) {
  static std::mutex mutex;
  static std::set<std::string_view> reported;
  const std::lock_guard guard(mutex);
  if (!reported.insert(name).second) return;
  fmt::print(stderr, "ohm: {} is not there on a virtual GPU\n", name);
}

}  // namespace ohm::interpose
