#include "allocator_shim/interpose/toolkit_version.h"

#include <atomic>

namespace ohm::interpose {
namespace {

std::atomic<const ToolkitVersion*> toolkit = nullptr;

}  // namespace

const ToolkitVersion& toolkit_of_process() {
  const ToolkitVersion* known = toolkit.load();
  return known == nullptr ? kToolkit13 : *known;
}

void set_toolkit_of_process(const ToolkitVersion& first) {
  const ToolkitVersion* none = nullptr;
  toolkit.compare_exchange_strong(none, &first);
}

}  // namespace ohm::interpose
