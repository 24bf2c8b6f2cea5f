#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "tests/allocator_shim/interpose/client.h"

namespace ohm::interpose {
namespace {

constexpr int kNotFound = 500;

using Address = std::uint64_t;
using MemGetInfo = int(std::size_t*, std::size_t*);

/// CUmemAllocationProp of memory on a device.
struct AllocationProperties {
  int type = 1;
  int handle_types = 0;
  int location_type = 1;
  int device = 0;
  void* metadata = nullptr;
  std::uint64_t flags = 0;
};

std::size_t free_bytes_of_driver(MemGetInfo* ask = function<MemGetInfo>(kDriver,
                                                                        "cuMemGetInfo_v2")) {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(ask(&free, &total), kSuccess);
  return free;
}

int create(std::uint64_t* memory, std::size_t bytes, int device = 0) {
  AllocationProperties properties;
  properties.device = device;
  return function<int(std::uint64_t*, std::size_t, const AllocationProperties*, std::uint64_t)>(
      kDriver, "cuMemCreate")(memory, bytes, &properties, 0);
}

int release(std::uint64_t memory) {
  return function<int(std::uint64_t)>(kDriver, "cuMemRelease")(memory);
}

Address reserved(std::size_t bytes) {
  Address address = 0;
  EXPECT_EQ((function<int(Address*, std::size_t, std::size_t, Address, std::uint64_t)>(
                kDriver, "cuMemAddressReserve")(&address, bytes, 0, 0, 0)),
            kSuccess);
  return address;
}

int map(Address address, std::size_t bytes, std::uint64_t memory) {
  return function<int(Address, std::size_t, std::size_t, std::uint64_t, std::uint64_t)>(
      kDriver, "cuMemMap")(address, bytes, 0, memory, 0);
}

/// Access to what is mapped, from its own device.
int grant(Address address, std::size_t bytes) {
  struct {
    int location_type;
    int device;
    unsigned protection;
  } description = {1, 0, 3};
  return function<int(Address, std::size_t, const void*, std::size_t)>(kDriver, "cuMemSetAccess")(
      address, bytes, &description, 1);
}

int unmap(Address address, std::size_t bytes) {
  return function<int(Address, std::size_t)>(kDriver, "cuMemUnmap")(address, bytes);
}

int release_range(Address address, std::size_t bytes) {
  return function<int(Address, std::size_t)>(kDriver, "cuMemAddressFree")(address, bytes);
}

TEST(VirtualCudaDriver, MemoryThatIsCreatedTakesCapacityAndARangeOfAddressesDoesNot) {
  const Address range = reserved(64_MiB);
  EXPECT_EQ(free_bytes_of_driver(), 64_MiB);
  std::uint64_t memory = 0;
  std::uint64_t refused = 0;
  EXPECT_EQ(create(&memory, 60_MiB), kSuccess);
  EXPECT_EQ(free_bytes_of_driver(), 4_MiB);
  EXPECT_EQ(create(&refused, 6_MiB), kOutOfMemory);
  EXPECT_EQ(create(&refused, 6_MiB, 1), kSuccess) << "another device";
  EXPECT_EQ(release(refused), kSuccess);
  EXPECT_EQ(release(memory), kSuccess);
  EXPECT_EQ(free_bytes_of_driver(), 64_MiB);
  EXPECT_EQ(release_range(range, 64_MiB), kSuccess);
}

TEST(VirtualCudaDriver, MappedMemoryIsKeptUntilItIsReleasedAndUnmapped) {
  const Address range = reserved(20_MiB);
  std::uint64_t memory = 0;
  EXPECT_EQ(create(&memory, 2_MiB), kSuccess);
  EXPECT_EQ(map(range + 4_MiB, 2_MiB, memory), kSuccess);
  auto* const byte = reinterpret_cast<volatile char*>(range + 4_MiB);
  *byte = 7;
  EXPECT_EQ(*byte, 7);
  EXPECT_EQ(release(memory), kSuccess);
  EXPECT_EQ(free_bytes_of_driver(), 62_MiB) << "still mapped";
  EXPECT_EQ(unmap(range + 4_MiB, 2_MiB), kSuccess);
  EXPECT_EQ(free_bytes_of_driver(), 64_MiB);
  EXPECT_NE(unmap(range + 4_MiB, 2_MiB), kSuccess) << "nothing is mapped there";
  EXPECT_EQ(release_range(range, 20_MiB), kSuccess);
}

TEST(VirtualCudaDriver, CopiesToWhatIsMappedAndToNothingElse) {
  const Address range = reserved(8_MiB);
  auto* const copy = function<int(Address, const void*, std::size_t)>(kDriver, "cuMemcpyHtoD_v2");
  std::vector<char> host(6_MiB);
  EXPECT_EQ(copy(range, host.data(), 1), kInvalidValue) << "addresses without memory";
  std::array<std::uint64_t, 2> memory = {};
  for (std::size_t i = 0; i < memory.size(); ++i) {
    create(&memory[i], 2_MiB);
    map(range + 2_MiB * (i + 1), 2_MiB, memory[i]);
  }
  EXPECT_EQ(copy(range + 2_MiB, host.data(), 1), kInvalidValue) << "without access";
  EXPECT_EQ(grant(range + 2_MiB, 6_MiB), kInvalidValue) << "beyond what is mapped";
  EXPECT_EQ(grant(range + 2_MiB, 4_MiB), kSuccess);
  EXPECT_EQ(copy(range + 2_MiB, host.data(), 4_MiB), kSuccess) << "both mappings";
  EXPECT_EQ(copy(range + 2_MiB, host.data(), 4_MiB + 1), kInvalidValue) << "beyond them";
  EXPECT_EQ(copy(range + 1_MiB, host.data(), 2_MiB), kInvalidValue) << "before them";
  unmap(range + 2_MiB, 4_MiB);
  for (const std::uint64_t chunk : memory) release(chunk);
  EXPECT_EQ(copy(range + 2_MiB, host.data(), 1), kInvalidValue);
  EXPECT_EQ(release_range(range, 8_MiB), kSuccess);
}

TEST(VirtualCudaDriver, MapsNothingOutsideOfARange) {
  const Address range = reserved(4_MiB);
  std::uint64_t memory = 0;
  EXPECT_EQ(create(&memory, 4_MiB), kSuccess);
  EXPECT_NE(map(range + 2_MiB, 4_MiB, memory), kSuccess);
  EXPECT_EQ(map(range, 4_MiB, memory), kSuccess);
  EXPECT_EQ(unmap(range, 4_MiB), kSuccess);
  EXPECT_EQ(release(memory), kSuccess);
  EXPECT_EQ(release_range(range, 4_MiB), kSuccess);
}

/// What functions of CUDA return in a process that calls nothing else, in this order.
std::string results_of(const std::string& names, const std::string& variables = "") {
  const std::string command =
      variables + " /proc/" + std::to_string(getpid()) + "/exe --call " + names;
  FILE* const output = popen(command.c_str(), "r");
  std::array<char, 200> line = {};
  if (output == nullptr || std::fgets(line.data(), line.size(), output) == nullptr) return {};
  pclose(output);
  return line.data();
}

TEST(VirtualCudaDriver, IsNotInitializedBeforeCuInit) {
  EXPECT_EQ(results_of("cuDeviceGetCount cuCtxGetCurrent cuCtxGetDevice cuModuleGetLoadingMode "
                       "cuMemGetInfo_v2 cuStreamCreate cuCtxSynchronize cuMulticastCreate"),
            "3 3 3 3 3 3 3 3\n");
  EXPECT_EQ(results_of("cuInit cuDeviceGetCount cuCtxGetCurrent cuCtxSynchronize"), "0 0 0 201\n")
      << "there is no context yet";
}

TEST(VirtualCudaDriver, TellsItsVersionBeforeCuInit) {
  EXPECT_EQ(results_of("cuDriverGetVersion cuDeviceGetCount"), "0 3\n");
}

TEST(VirtualCudaDriver, IsInitializedByTheRuntimeAndLibraries) {
  for (const char* name : {"cudaGetDeviceCount", "cudaEventCreate", "cudaDeviceSynchronize",
                           "cudaStreamCreate", "cublasCreate_v2"}) {
    EXPECT_EQ(results_of(std::string(name) + " cuDeviceGetCount"), "0 0\n") << name;
  }
  EXPECT_EQ(results_of("nvmlInit_v2 nvmlDeviceGetCount_v2 cuDeviceGetCount"), "0 0 3\n");
}

TEST(VirtualCudaDriver, WithoutGpusIsNeverInitialized) {
  EXPECT_EQ(results_of("cuInit cuDeviceGetCount cudaGetDeviceCount cuDeviceGetCount",
                       "CUDA_VISIBLE_DEVICES="),
            "100 3 100 3\n");
}

TEST(VirtualCudaDriver, FindsFunctionsByName) {
  void* found = nullptr;
  int result = -1;
  auto* const look_up =
      function<int(const char*, void**, int, std::uint64_t, int*)>(kDriver, "cuGetProcAddress_v2");
  EXPECT_EQ(look_up("cuMemGetInfo", &found, 12'000, 0, &result), kSuccess);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(free_bytes_of_driver(reinterpret_cast<MemGetInfo*>(found)), 64_MiB);
  EXPECT_EQ(look_up("cuNoSuchFunction", &found, 12'000, 0, &result), kNotFound);
  EXPECT_EQ(result, 1);
  EXPECT_EQ(found, nullptr);
}

TEST(VirtualCudaDriver, FindsFunctionsThroughTheRuntime) {
  void* found = nullptr;
  int result = -1;
  auto* const by_version = function<int(const char*, void**, unsigned, std::uint64_t, int*)>(
      "libcudart.so.13", "cudaGetDriverEntryPointByVersion");
  EXPECT_EQ(by_version("cuMemGetInfo", &found, 13'000, 0, &result), kSuccess);
  EXPECT_EQ(free_bytes_of_driver(reinterpret_cast<MemGetInfo*>(found)), 64_MiB);
  EXPECT_EQ(by_version("cuNoSuchFunction", &found, 13'000, 0, &result), kSuccess);
  EXPECT_EQ(result, 1);
  found = nullptr;
  EXPECT_EQ((function<int(const char*, void**, std::uint64_t, int*)>(
                kRuntime, "cudaGetDriverEntryPoint")("cuMemCreate", &found, 0, &result)),
            kSuccess);
  EXPECT_EQ(found, dlsym(library(kDriver), "cuMemCreate"));
}

TEST(VirtualCudaDriver, NamesTheFileWhoseRuntimeIsStripped) {
  const void* table = &table;
  constexpr int kNotSupported = 801;
  testing::internal::CaptureStderr();
  EXPECT_EQ(
      (function<int(const void**, const void*)>(kDriver, "cuGetExportTable")(&table, nullptr)),
      kNotSupported);
  EXPECT_EQ(table, nullptr);
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      testing::HasSubstr("interpose_tests contains a CUDA runtime whose symbols are stripped"));
}

TEST(VirtualCudaDriver, LoadsWhatWasLinkedAndFindsItsKernels) {
  void* link = nullptr;
  function<int(unsigned, void*, void*, void**)>(kDriver, "cuLinkCreate_v2")(0, nullptr, nullptr,
                                                                            &link);
  const void* image = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ((function<int(void*, const void**, std::size_t*)>(kDriver, "cuLinkComplete")(
                link, &image, &bytes)),
            kSuccess);
  EXPECT_NE(image, nullptr);
  EXPECT_GT(bytes, 0U);
  void* loaded = nullptr;
  void* kernel = nullptr;
  void* called = nullptr;
  function<int(void**, const void*, void*, void*, unsigned, void*, void*, unsigned)>(
      kDriver, "cuLibraryLoadData")(&loaded, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  function<int(void**, void*, const char*)>(kDriver, "cuLibraryGetKernel")(&kernel, loaded, "add");
  function<int(void**, void*)>(kDriver, "cuKernelGetFunction")(&called, kernel);
  EXPECT_NE(called, nullptr);
  int blocks = 0;
  int threads = 0;
  EXPECT_EQ(
      (function<int(int*, int*, void*, std::size_t (*)(int), std::size_t, int)>(
          kDriver, "cuOccupancyMaxPotentialBlockSize")(&blocks, &threads, called, nullptr, 0, 256)),
      kSuccess);
  EXPECT_EQ(threads, 256);
  EXPECT_EQ(blocks, 108 * (2048 / 256)) << "multiprocessors, and what each of them holds";
  EXPECT_EQ(function<int(void*)>(kDriver, "cuLibraryUnload")(loaded), kSuccess);
  EXPECT_EQ(function<int(void*)>(kDriver, "cuLinkDestroy")(link), kSuccess);
}

TEST(VirtualCudaDriver, TellsTritonWhereItIs) {
  const char* const told = std::getenv("TRITON_LIBCUDA_PATH");
  ASSERT_NE(told, nullptr);
  const std::filesystem::path folder = told;
  EXPECT_TRUE(std::filesystem::exists(folder / "libcuda.so")) << folder;
  EXPECT_EQ(std::filesystem::canonical(folder / "libcuda.so"), folder / kDriver);
}

TEST(VirtualCudaDriver, TellsWhatAnAddressBelongsTo) {
  Address address = 0;
  EXPECT_EQ((function<int(Address*, std::size_t)>(kDriver, "cuMemAlloc_v2")(&address, 6_MiB)),
            kSuccess);
  Address base = 0;
  std::size_t bytes = 0;
  EXPECT_EQ((function<int(Address*, std::size_t*, Address)>(kDriver, "cuMemGetAddressRange_v2")(
                &base, &bytes, address + 5_MiB)),
            kSuccess);
  EXPECT_EQ(base, address);
  EXPECT_EQ(bytes, 6_MiB);
  EXPECT_EQ(function<int(Address)>(kDriver, "cuMemFree_v2")(address), kSuccess);
}

}  // namespace
}  // namespace ohm::interpose
