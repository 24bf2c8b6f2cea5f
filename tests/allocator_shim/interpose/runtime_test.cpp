#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "tests/allocator_shim/interpose/client.h"

namespace ohm::interpose {
namespace {

constexpr int kInvalidDevice = 101;
constexpr int kNotSupported = 801;

int set_device(int device) { return function<int(int)>(kRuntime, "cudaSetDevice")(device); }
int free_memory(void* pointer) { return function<int(void*)>(kRuntime, "cudaFree")(pointer); }
int last_error() { return function<int()>(kRuntime, "cudaGetLastError")(); }

int allocate(void** pointer, std::size_t bytes) {
  return function<int(void**, std::size_t)>(kRuntime, "cudaMalloc")(pointer, bytes);
}

void* allocated(std::size_t bytes) {
  void* pointer = nullptr;
  EXPECT_EQ(allocate(&pointer, bytes), kSuccess);
  return pointer;
}

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  function<int(std::size_t*, std::size_t*)>(kRuntime, "cudaMemGetInfo")(&free, &total);
  EXPECT_EQ(total, 64_MiB);
  return free;
}

int copy(void* to, const void* from, std::size_t bytes) {
  constexpr int kByAddress = 4;
  return function<int(void*, const void*, std::size_t, int)>(kRuntime, "cudaMemcpy")(
      to, from, bytes, kByAddress);
}

/// What the process of `body` ends with.
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The same for a copy of this process that libc does not know of: it keeps its GPUs.
template <typename Body>
int in_copy(const Body& body) {
  const auto child = static_cast<pid_t>(syscall(SYS_fork));
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int kNotInitialized = 3;

TEST(VirtualCudaRuntime, IsWhatProgramsFindUnderNvidiasNames) {
  Dl_info info = {};
  dladdr(dlsym(library("libcudart.so.13"), "cudaMalloc"), &info);
  EXPECT_THAT(info.dli_fname, testing::HasSubstr("libohm_cuda.so"));
}

TEST(VirtualCudaRuntime, TellsTheDevicesOfTheProfile) {
  int count = 0;
  EXPECT_EQ(function<int(int*)>(kRuntime, "cudaGetDeviceCount")(&count), kSuccess);
  EXPECT_EQ(count, 4);
  constexpr int kMultiprocessors = 16;
  int value = 0;
  auto* const attribute = function<int(int*, int, int)>(kRuntime, "cudaDeviceGetAttribute");
  EXPECT_EQ(attribute(&value, kMultiprocessors, 1), kSuccess);
  EXPECT_EQ(value, 108);
  EXPECT_EQ(attribute(&value, kMultiprocessors, 4), kInvalidDevice);
  EXPECT_EQ(set_device(4), kInvalidDevice);
}

TEST(VirtualCudaRuntime, LaysPropertiesOutAsEachReleaseDoes) {
  // Where CUDA's headers have totalGlobalMem, and multiProcessorCount of both releases.
  constexpr std::size_t kTotalMemory = 288;
  struct Layout {
    const char* name;
    std::size_t bytes;
    std::size_t multiprocessors;
  };
  for (const Layout& layout : {Layout{"cudaGetDeviceProperties_v2", 1032, 388},
                               Layout{"cudaGetDeviceProperties", 1008, 384}}) {
    std::vector<char> properties(layout.bytes + 8, 'x');
    EXPECT_EQ(function<int(void*, int)>(kRuntime, layout.name)(properties.data(), 0), kSuccess);
    EXPECT_STREQ(properties.data(), "tiny-64m");
    std::size_t memory = 0;
    std::memcpy(&memory, &properties[kTotalMemory], sizeof(memory));
    EXPECT_EQ(memory, 64_MiB) << layout.name;
    int multiprocessors = 0;
    std::memcpy(&multiprocessors, &properties[layout.multiprocessors], sizeof(int));
    EXPECT_EQ(multiprocessors, 108) << layout.name;
    EXPECT_EQ(properties[layout.bytes - 1], '\0');
    EXPECT_EQ(properties[layout.bytes], 'x') << "written beyond its end: " << layout.name;
  }
}

TEST(VirtualCudaRuntime, GivesANameTheMeaningOfTheReleaseThatAsksForIt) {
  for (const auto& [soname, version] :
       {std::pair{"libcudart.so.12", 12'090}, std::pair{"libcudart.so.13", 13'020}}) {
    int told = 0;
    function<int(int*)>(soname, "cudaRuntimeGetVersion", soname)(&told);
    EXPECT_EQ(told, version);
  }
}

TEST(VirtualCudaRuntime, GrantsWhatFitsAndNoMore) {
  void* const large = allocated(60_MiB);
  EXPECT_EQ(free_bytes(), 4_MiB);
  void* refused = &refused;
  EXPECT_EQ(allocate(&refused, 6_MiB), kOutOfMemory);
  EXPECT_EQ(refused, nullptr);
  EXPECT_EQ(last_error(), kOutOfMemory);
  EXPECT_EQ(last_error(), kSuccess) << "an error is told once";
  EXPECT_EQ(free_memory(large), kSuccess);
  EXPECT_EQ(free_memory(large), kInvalidValue) << "it is free already";
  last_error();
  EXPECT_EQ(free_bytes(), 64_MiB);
}

TEST(VirtualCudaRuntime, EachDeviceHasItsOwnMemory) {
  void* const here = allocated(60_MiB);
  EXPECT_EQ(set_device(1), kSuccess);
  void* const there = allocated(60_MiB);
  EXPECT_EQ(free_memory(here), kSuccess) << "whichever device is current";
  EXPECT_EQ(free_bytes(), 4_MiB);
  EXPECT_EQ(free_memory(there), kSuccess);
  set_device(0);
  EXPECT_EQ(free_bytes(), 64_MiB);
}

TEST(VirtualCudaRuntime, TakesTheLowestGapOfAddressesThatFits) {
  char* const first = static_cast<char*>(allocated(3_MiB));
  char* const second = static_cast<char*>(allocated(2_MiB));
  EXPECT_EQ(second - first, static_cast<std::ptrdiff_t>(4_MiB)) << "granules are of 2 MiB";
  free_memory(first);
  EXPECT_EQ(allocated(4_MiB), first);
  free_memory(first);
  free_memory(second);
}

TEST(VirtualCudaRuntime, CopiesThereAndBack) {
  void* const device = allocated(2_MiB);
  const std::string text = "values";
  std::string read(text.size(), ' ');
  EXPECT_EQ(copy(device, text.data(), text.size()), kSuccess);
  EXPECT_EQ(copy(read.data(), device, text.size()), kSuccess);
  EXPECT_EQ(read, text);
  free_memory(device);
}

TEST(VirtualCudaRuntime, FillsAndCopiesRowsWithAPitch) {
  void* device = nullptr;
  std::size_t pitch = 0;
  constexpr std::size_t kWidth = 700;
  constexpr std::size_t kRows = 3;
  EXPECT_EQ((function<int(void**, std::size_t*, std::size_t, std::size_t)>(
                kRuntime, "cudaMallocPitch")(&device, &pitch, kWidth, kRows)),
            kSuccess);
  EXPECT_EQ(pitch, 1024U);
  EXPECT_EQ((function<int(void*, std::size_t, int, std::size_t, std::size_t)>(
                kRuntime, "cudaMemset2D")(device, pitch, 7, kWidth, kRows)),
            kSuccess);
  std::vector<char> host(kWidth * kRows);
  EXPECT_EQ(
      (function<int(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int)>(
          kRuntime, "cudaMemcpy2D")(host.data(), kWidth, device, pitch, kWidth, kRows, 2)),
      kSuccess);
  EXPECT_THAT(host, testing::Each(7));
  EXPECT_EQ(static_cast<const char*>(device)[kWidth], 0) << "between two rows";
  free_memory(device);
}

TEST(VirtualCudaRuntime, RefusesToTouchWhatIsNotAllocated) {
  auto* const fill = function<int(void*, int, std::size_t)>(kRuntime, "cudaMemset");
  std::vector<char> host(3_MiB);
  char* const device = static_cast<char*>(allocated(2_MiB));
  EXPECT_EQ(copy(device + 1_MiB, host.data(), 1_MiB), kSuccess);
  EXPECT_EQ(copy(device + 1_MiB, host.data(), 1_MiB + 1), kInvalidValue) << "beyond its end";
  EXPECT_EQ(copy(host.data(), device, 3_MiB), kInvalidValue);
  EXPECT_EQ(last_error(), kInvalidValue);
  free_memory(device);
  EXPECT_EQ(copy(host.data(), device, 1), kInvalidValue) << "it is free";
  EXPECT_EQ(copy(device, host.data(), 1), kInvalidValue);
  EXPECT_EQ(fill(device, 0, 1), kInvalidValue);
  EXPECT_EQ(copy(device, host.data(), 0), kSuccess) << "nothing is touched";
  last_error();
}

/// Pages of this process that may be written, which RLIMIT_DATA limits.
std::size_t writable_bytes() {
  std::ifstream stream("/proc/self/statm");
  std::size_t pages = 0;
  constexpr int kDataField = 6;
  for (int field = 0; field < kDataField; ++field) stream >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(VirtualCudaRuntime, IsOutOfMemoryWhereTheHostIs) {
  EXPECT_EQ(in_copy([] {
              const rlim_t limit = writable_bytes() + 16_MiB;
              const rlimit limits = {limit, limit};
              setrlimit(RLIMIT_DATA, &limits);
              void* pointer = nullptr;
              return allocate(&pointer, 60_MiB);
            }),
            kOutOfMemory);
}

TEST(VirtualCudaRuntime, KnowsWhereAPointerPoints) {
  struct Attributes {
    int type;
    int device;
    void* device_pointer;
    void* host_pointer;
  } attributes = {};
  auto* const ask = function<int(Attributes*, const void*)>(kRuntime, "cudaPointerGetAttributes");
  constexpr int kUnregistered = 0;
  constexpr int kHost = 1;
  constexpr int kDevice = 2;
  set_device(1);
  char* const device = static_cast<char*>(allocated(2_MiB));
  ask(&attributes, device + 100);
  EXPECT_EQ(attributes.type, kDevice);
  EXPECT_EQ(attributes.device, 1);
  void* pinned = nullptr;
  function<int(void**, std::size_t, unsigned)>(kRuntime, "cudaHostAlloc")(&pinned, 100, 0);
  ask(&attributes, pinned);
  EXPECT_EQ(attributes.type, kHost);
  ask(&attributes, &attributes);
  EXPECT_EQ(attributes.type, kUnregistered);
  function<int(void*)>(kRuntime, "cudaFreeHost")(pinned);
  free_memory(device);
  set_device(0);
}

TEST(VirtualCudaRuntime, CapturesWhatIsLaunchedIntoAGraph) {
  void* stream = nullptr;
  void* other = nullptr;
  auto* const create = function<int(void**)>(kRuntime, "cudaStreamCreate");
  create(&stream);
  create(&other);
  const auto is_capturing = [](void* which) {
    int status = -1;
    function<int(void*, int*)>(kRuntime, "cudaStreamIsCapturing")(which, &status);
    return status;
  };
  constexpr int kNotAllowed = 900;
  auto* const begin = function<int(void*, int)>(kRuntime, "cudaStreamBeginCapture");
  EXPECT_EQ(begin(nullptr, 0), kNotAllowed);
  char* memory = nullptr;
  function<int(void**, std::size_t)>(kRuntime, "cudaMalloc")(reinterpret_cast<void**>(&memory), 1);
  function<int(void*, int, std::size_t)>(kRuntime, "cudaMemset")(memory, 1, 1);
  EXPECT_EQ(begin(stream, 0), kSuccess);
  EXPECT_EQ(is_capturing(stream), 1);
  EXPECT_EQ(is_capturing(other), 0);
  // A stream that waits for an event of the capture joins it.
  void* event = nullptr;
  function<int(void**)>(kRuntime, "cudaEventCreate")(&event);
  function<int(void*, void*)>(kRuntime, "cudaEventRecord")(event, stream);
  function<int(void*, void*, unsigned)>(kRuntime, "cudaStreamWaitEvent")(other, event, 0);
  EXPECT_EQ(is_capturing(other), 1);
  struct Dimensions {
    unsigned x, y, z;
  };
  function<int(const void*, Dimensions, Dimensions, void**, std::size_t, void*)>(
      kRuntime, "cudaLaunchKernel")(registered_kernel(), {1, 1, 1}, {1, 1, 1}, nullptr, 0, other);
  // Fills and copies are recorded, and write nothing.
  function<int(void*, int, std::size_t, void*)>(kRuntime, "cudaMemsetAsync")(memory, 7, 1, stream);
  EXPECT_EQ(*memory, 1);
  // What libraries do on the stream of their handle is recorded, too.
  constexpr const char* kBlas = "libcublas.so.12";
  void* handle = nullptr;
  function<int(void**)>(kBlas, "cublasCreate_v2")(&handle);
  function<int(void*, void*)>(kBlas, "cublasSetStream_v2")(handle, stream);
  function<int(void*, int, const float*, float*, int)>(kBlas, "cublasSscal_v2")(handle, 0, nullptr,
                                                                                nullptr, 1);
  function<int(void*)>(kBlas, "cublasDestroy_v2")(handle);
  // It has to be waited for before the capture ends.
  function<int(void*, void*)>(kRuntime, "cudaEventRecord")(event, other);
  function<int(void*, void*, unsigned)>(kRuntime, "cudaStreamWaitEvent")(stream, event, 0);
  void* graph = nullptr;
  EXPECT_EQ(function<int(void*, void**)>(kRuntime, "cudaStreamEndCapture")(stream, &graph),
            kSuccess);
  EXPECT_EQ(is_capturing(other), 0);
  std::size_t nodes = 0;
  function<int(void*, void**, std::size_t*)>(kRuntime, "cudaGraphGetNodes")(graph, nullptr, &nodes);
  EXPECT_EQ(nodes, 3U);
  auto* const destroy = function<int(void*)>(kRuntime, "cudaStreamDestroy");
  EXPECT_EQ(destroy(stream), kSuccess);
  EXPECT_EQ(destroy(other), kSuccess);
  EXPECT_EQ(function<int(void*)>(kRuntime, "cudaEventDestroy")(event), kSuccess);
  EXPECT_EQ(function<int(void*)>(kRuntime, "cudaGraphDestroy")(graph), kSuccess);
  EXPECT_EQ(function<int(void*)>(kRuntime, "cudaFree")(memory), kSuccess);
}

TEST(VirtualCudaRuntime, AStreamIsNotWaitedForWhileItIsCaptured) {
  void* stream = nullptr;
  function<int(void**)>(kRuntime, "cudaStreamCreate")(&stream);
  auto* const synchronize = function<int(void*)>(kRuntime, "cudaStreamSynchronize");
  EXPECT_EQ(synchronize(stream), kSuccess);
  EXPECT_EQ(function<int(void*, int)>(kRuntime, "cudaStreamBeginCapture")(stream, 0), kSuccess);
  constexpr int kNotAllowed = 900;
  constexpr int kInvalidated = 901;
  EXPECT_EQ(synchronize(stream), kNotAllowed);
  void* graph = stream;
  EXPECT_EQ(function<int(void*, void**)>(kRuntime, "cudaStreamEndCapture")(stream, &graph),
            kInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(synchronize(stream), kSuccess);
  function<int()>(kRuntime, "cudaGetLastError")();
  EXPECT_EQ(function<int(void*)>(kRuntime, "cudaStreamDestroy")(stream), kSuccess);
}

TEST(VirtualCudaRuntime, SaysByNameWhatItCannotDo) {
  testing::internal::CaptureStderr();
  auto* const share = function<int(void*, void*)>(kRuntime, "cudaIpcGetMemHandle");
  EXPECT_EQ(share(nullptr, nullptr), kNotSupported);
  EXPECT_EQ(share(nullptr, nullptr), kNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ohm: cudaIpcGetMemHandle is not implemented on virtual GPUs\n");
}

TEST(VirtualCudaRuntime, GoesOnWithoutWhatItCannotDoWhereThatIsAllowed) {
  testing::internal::CaptureStderr();
  auto* const share = function<int(void*, void*)>(kRuntime, "cudaIpcGetEventHandle");
  ::setenv("OHM_ALLOW_MISSING", "1", 1);
  EXPECT_EQ(share(nullptr, nullptr), kSuccess);
  ::unsetenv("OHM_ALLOW_MISSING");
  EXPECT_EQ(share(nullptr, nullptr), kNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ohm: cudaIpcGetEventHandle is not implemented on virtual GPUs\n");
}

TEST(VirtualCudaRuntime, AChildOfAProcessThatUsedGpusHasNone) {
  void* const pointer = allocated(2_MiB);
  copy(pointer, "parent", 7);
  EXPECT_EQ(in_child([&] {
              void* more = nullptr;
              return allocate(&more, 2_MiB);
            }),
            kNotInitialized);
  EXPECT_STREQ(static_cast<const char*>(pointer), "parent");
  EXPECT_EQ(free_bytes(), 62_MiB);
  free_memory(pointer);
}

TEST(VirtualCudaRuntime, IsForkedBetweenTheCallsOfOtherThreads) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer's own allocator is not held while a process forks";
#endif
  // Looked up before: the lookup is the loader's, and at a fork has locks of its own.
  auto* const take = function<int(void**, std::size_t)>(kRuntime, "cudaMalloc");
  auto* const give_back = function<int(void*)>(kRuntime, "cudaFree");
  std::atomic<bool> ends = false;
  std::thread other([&] {
    for (void* pointer = nullptr; !ends; give_back(pointer)) take(&pointer, 2_MiB);
  });
  constexpr int kForks = 100;
  for (int i = 0; i < kForks; ++i) {
    ASSERT_EQ(in_child([&] {
                alarm(30);  // a child that waits for a lock for ever ends
                void* pointer = nullptr;
                return take(&pointer, 2_MiB);
              }),
              kNotInitialized);
  }
  ends = true;
  other.join();
}

/// What another process sees: the runtime's answer, its devices, the first one's bus, NVML's count.
std::string gpus_with(const std::string& variables) {
  const std::string command =
      variables + " /proc/" + std::to_string(getpid()) + "/exe --print-gpus";
  FILE* const output = popen(command.c_str(), "r");
  std::array<char, 200> line = {};
  if (output == nullptr || std::fgets(line.data(), line.size(), output) == nullptr) return {};
  pclose(output);
  return line.data();
}

TEST(VirtualCudaRuntime, ShowsWhatCudaVisibleDevicesNames) {
  const std::string second = "0 1 00000000:05:00.0 4\n";
  EXPECT_EQ(gpus_with("CUDA_VISIBLE_DEVICES=0,1"), "0 2 00000000:04:00.0 4\n");
  EXPECT_EQ(gpus_with("CUDA_VISIBLE_DEVICES=1"), second);
  EXPECT_EQ(gpus_with("CUDA_VISIBLE_DEVICES=1,7,0"), second) << "nothing after a wrong one";
  EXPECT_EQ(gpus_with("CUDA_VISIBLE_DEVICES=GPU-6f686d00-0000-0000-0000-000000000002"), second);
  const std::string none = "100 0 - 4\n";
  EXPECT_EQ(gpus_with("CUDA_VISIBLE_DEVICES="), none);
  EXPECT_EQ(gpus_with("CUDA_VISIBLE_DEVICES=-1"), none);
}

TEST(VirtualCudaRuntime, RefusesAnUnknownGpu) {
  const std::string command = "OHM_GPU=a100-80 /proc/" + std::to_string(getpid()) +
                              "/exe --gtest_filter='*TellsTheDevices*' 2>&1 >/dev/null";
  FILE* const errors = popen(command.c_str(), "r");
  ASSERT_NE(errors, nullptr);
  std::array<char, 200> line = {};
  EXPECT_NE(std::fgets(line.data(), line.size(), errors), nullptr);
  EXPECT_EQ(WEXITSTATUS(pclose(errors)), EXIT_FAILURE);
  EXPECT_STREQ(line.data(),
               "ohm: OHM_GPU: [gpu] unknown profile \"a100-80\" (did you mean \"a100-80g\"?)\n");
}

}  // namespace
}  // namespace ohm::interpose
