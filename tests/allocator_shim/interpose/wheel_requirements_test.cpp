#include "allocator_shim/interpose/wheel_requirements.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_folder.h"

namespace ohm::interpose {
namespace {

TEST(WheelRequirements, NameTheVersionOfCudnn) {
  EXPECT_EQ(required_cudnn("Name: torch\nVersion: 2.6.0\n"
                           "Requires-Dist: nvidia-cublas-cu12 (==12.4.5.8) ; x == \"Linux\"\n"
                           "Requires-Dist: nvidia-cudnn-cu12 (==9.1.0.70) ; x == \"Linux\"\n"),
            (LibraryVersion{9, 1, 0}));
  EXPECT_EQ(required_cudnn("Name: torch\n"
                           "Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; x == \"Linux\"\n"),
            (LibraryVersion{9, 26, 0}));
  EXPECT_EQ(required_cudnn("Name: torch\nRequires-Dist: nvidia-cudnn-cu12 (==8.9.2.26)"),
            (LibraryVersion{8, 9, 2}));
}

TEST(WheelRequirements, NameNoneWhereTheyDoNot) {
  for (const char* const metadata :
       {"", "Name: torch\nRequires-Dist: sympy\n",
        "Name: torch\nRequires-Dist: nvidia-cudnn-cu12\n",
        "Name: torch\nRequires-Dist: nvidia-cudnn-cu12 >=9\nRequires-Dist: sympy==1.13.1\n",
        "Name: torch\nRequires-Dist: nvidia-cudnn-cu12==nine\n"}) {
    EXPECT_EQ(required_cudnn(metadata), std::nullopt) << metadata;
  }
}

TEST(WheelRequirements, AreThoseOfTheLoadedLibrary) {
  const test::TempFolder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder.file("torch/lib"));
  fs::create_directories(folder.file("torch-2.9.1.dist-info"));
  folder.write("torch-2.9.1.dist-info/METADATA",
               "Name: torch\nRequires-Dist: nvidia-cudnn-cu12==9.10.2.21\n");
  fs::copy_file(OHM_PRELOAD, folder.file("torch/lib/libtorch_cuda.so"));
  void* const library = dlopen(folder.file("torch/lib/libtorch_cuda.so").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(cudnn_of_loaded_torch(), (LibraryVersion{9, 10, 2}));
}

}  // namespace
}  // namespace ohm::interpose
