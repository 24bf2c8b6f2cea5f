// The images that nvcc made, in a build that compiles kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/kernels/host/elementwise_twins.h"
#include "runtime/kernels/host/row_twins.h"
#include "tests/support/temp_folder.h"

namespace ohm::kernels {
namespace {

/// What a program prints.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), static_cast<int>(part.size()), pipe) != nullptr) {
    text += part.data();
  }
  ::pclose(pipe);
  return text;
}

TEST(KernelImage, HoldsEveryKernel) {
  const char* const reader = OHM_CUOBJDUMP;  // a path, or nothing
  if (*reader == '\0') GTEST_SKIP() << "cuobjdump is not installed: nothing here reads a fatbin";
  if (kernel_build().images.empty()) GTEST_SKIP() << "this build compiled no kernels";
  const test::TempFolder folder;
  std::string symbols;
  for (const KernelImage& image : kernel_build().images) {
    const std::string path = folder.file("kernels.fatbin");
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(image.code.data()),
               static_cast<std::streamsize>(image.code.size()));
    const std::string of_image = output_of(std::string(reader) + " --dump-elf-symbols " + path);
    for (const std::string_view functor : image.functors) {
      EXPECT_THAT(of_image, testing::HasSubstr("ohm_" + std::string(functor) + "_"));
    }
    symbols += of_image;
  }
  for (const ElementwiseKernel& kernel : elementwise_kernels()) {
    EXPECT_THAT(symbols, testing::HasSubstr(kernel.symbol()));
  }
  for (const RowKernel& kernel : row_kernels()) {
    EXPECT_THAT(symbols, testing::HasSubstr(kernel.symbol()));
  }
}

}  // namespace
}  // namespace ohm::kernels
