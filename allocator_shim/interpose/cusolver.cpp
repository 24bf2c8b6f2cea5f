// cuSOLVER: its version.
#include <array>
#include <cstddef>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

namespace {

constexpr int kInvalidValue = 3;

}  // namespace

/// `property` is 0 for the major version, 1 for the minor one and 2 for the patch.
OHM_EXPORTED int cusolverGetProperty(int property, int* value) {
  const int version = toolkit_of_process().cusolver;
  const std::array parts = {version / 1000, version % 1000 / 100, version % 100};
  if (property < 0 || static_cast<std::size_t>(property) >= parts.size()) return kInvalidValue;
  *value = parts.at(static_cast<std::size_t>(property));
  return kLibrarySuccess;
}
