// Where the driver is, for programs that look for its file instead of asking the loader.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace {

/// Triton links its launchers with the libcuda.so of this folder, or else of one that ldconfig
/// lists: on a machine without NVIDIA's driver there is none.
constexpr const char* kTritonVariable = "TRITON_LIBCUDA_PATH";

/// When the library is loaded: what the program starts later finds it, too.
__attribute__((constructor)) void tell_the_folder() {
  Dl_info own = {};
  if (dladdr(kTritonVariable, &own) == 0) return;
  const auto folder = std::filesystem::path(own.dli_fname).parent_path();
  constexpr int kUnlessItIsSet = 0;
  setenv(kTritonVariable, folder.c_str(), kUnlessItIsSet);
}

}  // namespace
