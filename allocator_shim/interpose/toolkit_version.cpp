#include "allocator_shim/interpose/toolkit_version.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace ohm::interpose {
namespace {

std::atomic<const ToolkitVersion*> toolkit = nullptr;

}  // namespace

const ToolkitVersion& toolkit_of_process() {
  const ToolkitVersion* known = toolkit.load();
  return known == nullptr ? kToolkit13 : *known;
}

std::optional<int> part_of_version(int version, int part) {
  const std::array parts = {version / 1000, version % 1000 / 100, version % 100};
  if (part < 0 || static_cast<std::size_t>(part) >= parts.size()) return {};
  return parts.at(static_cast<std::size_t>(part));
}

void set_toolkit_of_process(const ToolkitVersion& first) {
  const ToolkitVersion* none = nullptr;
  toolkit.compare_exchange_strong(none, &first);
}

}  // namespace ohm::interpose
