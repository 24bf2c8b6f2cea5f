#include "allocator_shim/device/cuda/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

namespace ohm {

SharedLibrary::SharedLibrary(std::string path, std::string_view what)
    : path_(std::move(path)), handle_(::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* reason = ::dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread's last call
  throw GpuUnavailable(fmt::format("{} is not here: {}", what, reason == nullptr ? path_ : reason));
}

void* SharedLibrary::address_of(const char* symbol) const {
  void* const address = ::dlsym(handle_, symbol);
  if (address != nullptr) return address;
  throw GpuUnavailable(fmt::format("{} has no {}: it is too old", path_, symbol));
}

}  // namespace ohm
