#include "tests/docs/checkout.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "tests/support/checkout_paths.h"
#include "tests/support/golden.h"

namespace ohm::docs {

namespace {

namespace fs = std::filesystem;

/// What would change what ohm prints is unset: a CI job's variables, and settings of the caller.
constexpr const char* kEnvironment = R"sh(
unset CI GITHUB_ACTIONS PYTORCH_CUDA_ALLOC_CONF OHM_APPROVE GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX
export OHM_CUDA_DRIVER="$stand_in" OHM_NVML="$stand_in" OHM_CUBLAS="$stand_in"
export OHM_CUBLASLT="$stand_in" OHM_CUDNN="$stand_in" OHM_NCCL="$stand_in"
export OHM_STAND_IN="strict=1 devices=2 capacity=134217728"
)sh";

std::string torch_python() {
  const char* const path = std::getenv("OHM_TORCH_PYTHON");
  return path == nullptr ? "" : path;
}

}  // namespace

Checkout::Checkout() {
  const fs::path source = OHM_SOURCE_DIR;
  fs::copy(source / "scenarios", folder_.path() / "scenarios", fs::copy_options::recursive);
  fs::create_directory_symlink(source / "tests", folder_.path() / "tests");
  fs::create_symlink(OHM_BINARY, folder_.path() / "ohm");
  if (torch_python().empty()) return;
  // A link would not find the packages beside it.
  folder_.write("python", "#!/bin/sh\nexec '" + torch_python() + "' \"$@\"\n");
  fs::permissions(folder_.path() / "python", fs::perms::owner_all);
}

CommandResult Checkout::run(const std::string& command) {
  const std::string folder = folder_.path().string();
  const std::string script = streams_.write(
      "command", "cd '" + folder + "' || exit\nstand_in='" OHM_STAND_IN_DRIVER "'\n" +
                     kEnvironment + "PATH=$PWD:$PATH\n" + command);
  const std::string output = streams_.file("output");
  const int status =
      std::system(("bash '" + script + "' >'" + output + "' 2>&1 </dev/null").c_str());
  if (!WIFEXITED(status)) throw std::runtime_error("bash did not run: " + command);
  std::string text = test::read_file(output);
  for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos; ++at) {
    text.replace(at, folder.size(), ".");
  }
  return {WEXITSTATUS(status), text};
}

std::string Checkout::provides() const { return torch_python().empty() ? "" : "PyTorch"; }

void Checkout::write(const std::string& file, const std::string& bytes) {
  folder_.write(file, bytes);
}

}  // namespace ohm::docs
