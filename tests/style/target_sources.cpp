#include "tests/style/target_sources.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace ohm::style {
namespace {

constexpr std::array<std::string_view, 5> kTargetFolders = {"allocator_shim", "runtime", "reports",
                                                            "harness", "tests"};

bool is_conditional(const std::string& path) {
  const auto& all = conditional_sources();
  return std::any_of(all.begin(), all.end(),
                     [&](const ConditionalSource& source) { return source.path == path; });
}

}  // namespace

const std::vector<ConditionalSource>& conditional_sources() {
  static const std::vector<ConditionalSource> kSources = {
      {"runtime/kernels/cuda/kernel_image.cpp", "kernels for real GPUs"},
      {"runtime/kernels/cuda/no_kernel_image.cpp", "a build without kernels for real GPUs"},
      {"tests/allocator_shim/device/cuda/driver_header_test.cpp", "a CUDA toolkit"},
      {"tests/runtime/cuda/library_header_test.cpp", "a CUDA toolkit"},
      {"tests/runtime/kernels/cuda/kernel_image_test.cpp", "kernels for real GPUs"},
      {"tests/style/reaches_up.cpp", "a test that sees it not link"},
      {"tests/fuzz/settings_fuzz.cpp", "clang's libFuzzer"},
      {"tests/fuzz/snapshot_fuzz.cpp", "clang's libFuzzer"},
  };
  return kSources;
}

std::set<std::string> read_target_sources(const std::filesystem::path& list) {
  std::ifstream stream(list);
  if (!stream) throw std::runtime_error("cannot read " + list.string());
  std::set<std::string> sources;
  for (std::string line; std::getline(stream, line);) sources.insert(line);
  return sources;
}

std::vector<std::string> find_uncompiled_sources(const std::filesystem::path& root,
                                                 const std::set<std::string>& compiled) {
  std::vector<std::string> missing;
  for (const std::string_view top : kTargetFolders) {
    if (!std::filesystem::is_directory(root / top)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / top)) {
      if (!entry.is_regular_file() || entry.path().extension() != ".cpp") continue;
      std::string path = entry.path().lexically_relative(root).generic_string();
      if (compiled.count(path) == 0 && !is_conditional(path)) missing.push_back(std::move(path));
    }
  }
  std::sort(missing.begin(), missing.end());
  return missing;
}

}  // namespace ohm::style
