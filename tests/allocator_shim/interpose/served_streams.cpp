#include <array>
#include <cstddef>
#include <map>

#include "tests/allocator_shim/interpose/client.h"
#include "tests/allocator_shim/interpose/served_calls.h"

namespace ohm::interpose {
namespace served {
namespace {

struct Dimensions {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

constexpr std::size_t kBytes = 64;

void* stream_of(int number) {
  static std::map<int, void*> made = {{0, nullptr}};
  if (made.count(number) == 0) {
    constexpr unsigned kNonBlocking = 1;
    function<int(void**, unsigned)>(kRuntime, "cudaStreamCreateWithFlags")(
        &made[number], number == 3 ? 0 : kNonBlocking);
  }
  return made.at(number);
}

void* event_of(int number) {
  static std::map<int, void*> made;
  if (made.count(number) == 0) {
    function<int(void**)>(kRuntime, "cudaEventCreate")(&made[number]);
  }
  return made.at(number);
}

void* device_memory() {
  static void* const memory = [] {
    void* made = nullptr;
    function<int(void**, std::size_t)>(kRuntime, "cudaMalloc")(&made, kBytes);
    return made;
  }();
  return memory;
}

void* pinned_memory() {
  static void* const memory = [] {
    void* made = nullptr;
    function<int(void**, std::size_t)>(kRuntime, "cudaMallocHost")(&made, kBytes);
    return made;
  }();
  return memory;
}

int call(const char* soname, const char* name, void* handle) {
  return function<int(void*)>(soname, name)(handle);
}

int launch(void* stream) {
  return function<int(const void*, Dimensions, Dimensions, void**, std::size_t, void*)>(
      kRuntime, "cudaLaunchKernel")(registered_kernel(), {}, {}, nullptr, 0, stream);
}

int fill(void* stream) {
  return function<int(void*, int, std::size_t, void*)>(kRuntime, "cudaMemsetAsync")(
      device_memory(), 1, kBytes, stream);
}

constexpr int kToHost = 2;

int read(void* to, void* stream) {
  return function<int(void*, const void*, std::size_t, int, void*)>(kRuntime, "cudaMemcpyAsync")(
      to, device_memory(), kBytes, kToHost, stream);
}

int copy(void* to) {
  return function<int(void*, const void*, std::size_t, int)>(kRuntime, "cudaMemcpy")(
      to, device_memory(), kBytes, kToHost);
}

int elapsed(void* begin, void* end) {
  float milliseconds = 0;
  return function<int(float*, void*, void*)>(kRuntime, "cudaEventElapsedTime")(&milliseconds, begin,
                                                                               end);
}

int on_stream(const std::string& name, void* stream) {
  std::array<std::byte, kBytes> pageable = {};
  if (name == "launch") return launch(stream);
  if (name == "fill") return fill(stream);
  if (name == "read") return read(pageable.data(), stream);
  if (name == "read_pinned") return read(pinned_memory(), stream);
  if (name == "stream") return call(kRuntime, "cudaStreamQuery", stream);
  if (name == "driver_stream") return call(kDriver, "cuStreamQuery", stream);
  if (name == "wait_stream") return call(kRuntime, "cudaStreamSynchronize", stream);
  if (name == "destroy") return call(kRuntime, "cudaStreamDestroy", stream);
  if (name == "call") {
    return function<int(void*, void (*)(void*), void*)>(kRuntime, "cudaLaunchHostFunc")(
        stream, [](void*) {}, nullptr);
  }
  return -1;
}

int on_event(const std::string& name, void* event) {
  if (name == "event") return call(kRuntime, "cudaEventQuery", event);
  if (name == "driver_event") return call(kDriver, "cuEventQuery", event);
  if (name == "wait_event") return call(kRuntime, "cudaEventSynchronize", event);
  return -1;
}

}  // namespace
}  // namespace served

int serve_stream_call(const std::string& name, std::istringstream& arguments) {
  using namespace served;
  std::array<std::byte, kBytes> place = {};
  int first = 0;
  int second = 0;
  arguments >> first >> second;
  if (name == "copy") return copy(place.data());
  if (name == "wait_device") return function<int()>(kRuntime, "cudaDeviceSynchronize")();
  if (name == "wait_context") return function<int()>(kDriver, "cuCtxSynchronize")();
  if (name == "elapsed") return elapsed(event_of(first), event_of(second));
  if (name == "record") {
    return function<int(void*, void*)>(kRuntime, "cudaEventRecord")(event_of(first),
                                                                    stream_of(second));
  }
  if (name == "order") {
    return function<int(void*, void*, unsigned)>(kRuntime, "cudaStreamWaitEvent")(
        stream_of(first), event_of(second), 0);
  }
  const int of_event =
      on_event(name, name.find("event") == std::string::npos ? nullptr : event_of(first));
  return of_event >= 0 ? of_event : on_stream(name, stream_of(first));
}

}  // namespace ohm::interpose
