// Starts the tests again with the library preloaded, as ohm exec starts a program. With
// --print-gpus it is a program that prints what it sees; with --call and functions of CUDA, one
// that calls them in this order and prints what they return; with --serve the program of
// served_calls.h.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "tests/allocator_shim/interpose/client.h"
#include "tests/allocator_shim/interpose/served_calls.h"

namespace {

using ohm::interpose::function;
using ohm::interpose::kDriver;
using ohm::interpose::kRuntime;

int print_gpus() {
  int count = 0;
  unsigned machine = 0;
  char bus[32] = "-";
  const int status = function<int(int*)>(kRuntime, "cudaGetDeviceCount")(&count);
  function<int(char*, int, int)>(kRuntime, "cudaDeviceGetPCIBusId")(bus, sizeof(bus), 0);
  function<int(unsigned*)>("libnvidia-ml.so.1", "nvmlDeviceGetCount_v2")(&machine);
  std::printf("%d %d %s %u\n", status, count, bus, machine);
  return EXIT_SUCCESS;
}

/// With arguments of their own; nullopt: another function.
std::optional<int> special_result(const char* name) {
  void* place = nullptr;
  if (std::strcmp(name, "cuInit") == 0) return function<int(unsigned)>(kDriver, name)(0);
  if (std::strcmp(name, "cudaMallocHost") == 0) {
    return function<int(void**, std::size_t)>(kRuntime, name)(&place, 4096);
  }
  if (std::strcmp(name, "cudaMemsetAsync") == 0) {
    function<int(void**, std::size_t)>(kRuntime, "cudaMalloc")(&place, 4096);
    return function<int(void*, int, std::size_t, void*)>(kRuntime, name)(place, 1, 4096, nullptr);
  }
  if (std::strcmp(name, "nvmlDeviceGetMemoryInfo_first") == 0) {
    std::uint64_t memory[3] = {};
    constexpr std::uintptr_t kFirst = 1;
    return function<int(std::uintptr_t, void*)>("libnvidia-ml.so.1", "nvmlDeviceGetMemoryInfo")(
        kFirst, memory);
  }
  return std::nullopt;
}

const char* soname_of(const char* name) {
  constexpr std::pair<const char*, const char*> kPrefixes[] = {{"cudnn", "libcudnn.so.9"},
                                                               {"cuda", kRuntime},
                                                               {"nvml", "libnvidia-ml.so.1"},
                                                               {"nccl", "libnccl.so.2"},
                                                               {"cublas", "libcublas.so.12"}};
  for (const auto& [prefix, soname] : kPrefixes) {
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return soname;
  }
  return kDriver;
}

/// Places that any of the functions may write to.
int print_results(int count, char** names) {
  for (int i = 0; i < count; ++i) {
    std::uint64_t places[3] = {};
    const std::optional<int> special = special_result(names[i]);
    const int status = special ? *special
                               : function<int(void*, void*, void*)>(soname_of(names[i]), names[i])(
                                     &places[0], &places[1], &places[2]);
    std::printf("%s%d", i == 0 ? "" : " ", status);
  }
  std::printf("\n");
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("LD_PRELOAD") == nullptr) {
    setenv("LD_PRELOAD", OHM_PRELOAD, 1);
    setenv("OHM_GPU", "tiny-64m,count=4", 0);
    // A sanitizer in this program comes after what is preloaded, and says so.
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 0);
    execv("/proc/self/exe", argv);
    std::perror("exec");
    return EXIT_FAILURE;
  }
  if (argc == 2 && std::strcmp(argv[1], "--print-gpus") == 0) return print_gpus();
  if (argc == 2 && std::strcmp(argv[1], "--serve") == 0) return ohm::interpose::serve_calls();
  if (argc > 2 && std::strcmp(argv[1], "--call") == 0) return print_results(argc - 2, argv + 2);
  function<int(unsigned)>(kDriver, "cuInit")(0);
  void* context = nullptr;
  function<int(void**, int)>(kDriver, "cuDevicePrimaryCtxRetain")(&context, 0);
  function<int(void*)>(kDriver, "cuCtxSetCurrent")(context);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
