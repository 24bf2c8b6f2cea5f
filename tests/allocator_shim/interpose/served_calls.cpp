#include "tests/allocator_shim/interpose/served_calls.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "tests/allocator_shim/interpose/client.h"

namespace ohm::interpose {
namespace served {
namespace {

constexpr const char* kNvml = "libnvidia-ml.so.1";

std::vector<void*> taken;

void set_device(int device) { function<int(int)>(kRuntime, "cudaSetDevice")(device); }

void* nvml_device(int device) {
  void* found = nullptr;
  function<int(unsigned, void**)>(kNvml, "nvmlDeviceGetHandleByIndex_v2")(
      static_cast<unsigned>(device), &found);
  return found;
}

int take(int device, std::size_t bytes) {
  set_device(device);
  void* pointer = nullptr;
  const int status = function<int(void**, std::size_t)>(kRuntime, "cudaMalloc")(&pointer, bytes);
  if (status == kSuccess) taken.push_back(pointer);
  return status;
}

int create(int device, std::size_t bytes) {
  struct {
    int type = 1;  // pinned
    int handle_types = 0;
    int location_type = 1;  // a device
    int device = 0;
    void* metadata = nullptr;
    std::uint64_t flags = 0;
  } properties;
  properties.device = device;
  void* handle = nullptr;
  function<int(unsigned)>(kDriver, "cuInit")(0);
  return function<int(void**, std::size_t, const void*, std::uint64_t)>(kDriver, "cuMemCreate")(
      &handle, bytes, &properties, 0);
}

int drop() {
  void* const last = taken.back();
  taken.pop_back();
  return function<int(void*)>(kRuntime, "cudaFree")(last);
}

void print_free(int device) {
  set_device(device);
  std::size_t free = 0;
  std::size_t total = 0;
  const int status =
      function<int(std::size_t*, std::size_t*)>(kRuntime, "cudaMemGetInfo")(&free, &total);
  if (status == kSuccess) {
    std::cout << free / 1_MiB;
  } else {
    std::cout << "failed " << status;
  }
}

void print_used(int device) {
  std::array<std::uint64_t, 3> memory = {};
  function<int(void*, void*)>(kNvml, "nvmlDeviceGetMemoryInfo")(nvml_device(device), memory.data());
  std::cout << memory[2] / 1_MiB;
}

void print_processes(int device) {
  struct Process {
    unsigned id;
    std::uint64_t used_bytes;
  };
  std::vector<Process> all(1);
  auto count = static_cast<unsigned>(all.size());
  auto* const list =
      function<int(void*, unsigned*, Process*)>(kNvml, "nvmlDeviceGetComputeRunningProcesses");
  constexpr int kInsufficientSize = 7;
  if (list(nvml_device(device), &count, all.data()) == kInsufficientSize) {
    all.resize(count);
    list(nvml_device(device), &count, all.data());
  }
  for (unsigned i = 0; i < count; ++i) {
    std::cout << (i == 0 ? "" : " ") << all[i].id << ':' << all[i].used_bytes / 1_MiB;
  }
}

int status_in_child() {
  const pid_t child = fork();
  if (child == 0) _exit(take(0, 1_MiB));
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

/// False: it is about streams.
bool serve(const std::string& name, int device, std::size_t bytes) {
  if (name == "take") {
    std::cout << take(device, bytes);
  } else if (name == "create") {
    std::cout << create(device, bytes);
  } else if (name == "drop") {
    std::cout << drop();
  } else if (name == "free") {
    print_free(device);
  } else if (name == "used") {
    print_used(device);
  } else if (name == "processes") {
    print_processes(device);
  } else if (name == "fork") {
    std::cout << status_in_child();
  } else if (name == "exec") {
    execl("/proc/self/exe", "served", "--serve", nullptr);
    std::cout << "failed";
  } else {
    return false;
  }
  return true;
}

}  // namespace
}  // namespace served

int serve_calls() {
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    int device = 0;
    std::size_t mebibytes = 0;
    words >> name >> device >> mebibytes;
    if (!served::serve(name, device, mebibytes * 1_MiB)) {
      std::istringstream arguments(line.substr(name.size()));
      std::cout << serve_stream_call(name, arguments);
    }
    std::cout << std::endl;
  }
  return 0;
}

}  // namespace ohm::interpose
