// Starts the tests again with the library preloaded, as ohm exec starts a program. With
// --print-gpus it is a program that prints what it sees; with --call and functions of CUDA, one
// that calls them in this order and prints what they return.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/allocator_shim/interpose/client.h"

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

/// Places that any of the functions may write to.
int print_results(int count, char** names) {
  for (int i = 0; i < count; ++i) {
    std::uint64_t places[3] = {};
    const bool is_runtime = std::strncmp(names[i], "cuda", 4) == 0;
    const char* const soname = is_runtime                                 ? kRuntime
                               : std::strncmp(names[i], "nvml", 4) == 0   ? "libnvidia-ml.so.1"
                               : std::strncmp(names[i], "cublas", 6) == 0 ? "libcublas.so.12"
                                                                          : kDriver;
    const bool is_init = std::strcmp(names[i], "cuInit") == 0;
    const int status = is_init ? function<int(unsigned)>(soname, names[i])(0)
                               : function<int(void*, void*, void*)>(soname, names[i])(
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
    setenv("OHM_GPU", "tiny-64m,count=2", 0);
    // A sanitizer in this program comes after what is preloaded, and says so.
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 0);
    execv("/proc/self/exe", argv);
    std::perror("exec");
    return EXIT_FAILURE;
  }
  if (argc == 2 && std::strcmp(argv[1], "--print-gpus") == 0) return print_gpus();
  if (argc > 2 && std::strcmp(argv[1], "--call") == 0) return print_results(argc - 2, argv + 2);
  function<int(unsigned)>(kDriver, "cuInit")(0);
  void* context = nullptr;
  function<int(void**, int)>(kDriver, "cuDevicePrimaryCtxRetain")(&context, 0);
  function<int(void*)>(kDriver, "cuCtxSetCurrent")(context);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
