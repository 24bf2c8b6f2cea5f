// A program that uses CUDA without PyTorch: argv[1] says how. Functions are named after what they
// do, and lines that reports have to name end with a mark.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
int cudaMalloc(void** pointer, std::size_t bytes);
int cudaMallocAsync(void** pointer, std::size_t bytes, void* stream);
int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
int cudaFree(void* pointer);
int cudaFreeAsync(void* pointer, void* stream);
int cudaMemset(void* pointer, int value, std::size_t bytes);
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int cudaDeviceReset();
int cudaDeviceSynchronize();
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes);
int cuMemFree_v2(unsigned long long address);
}

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

void* load_weights(std::size_t bytes) {
  void* pointer = nullptr;
  cudaMalloc(&pointer, bytes);  // mark: weights
  return pointer;
}

void* make_cache(std::size_t bytes) {
  void* pointer = nullptr;
  cudaMallocAsync(&pointer, bytes, nullptr);  // mark: cache
  return pointer;
}

void release(void* pointer) {
  cudaFree(pointer);  // mark: release
}

void shut_down(void* pointer) {
  std::printf("%d\n", cudaFree(pointer));  // mark: shut_down
}

int clean() {
  void* const weights = load_weights(3 * kMiB);
  void* const cache = make_cache(1 * kMiB);
  void* managed = nullptr;
  cudaMallocManaged(&managed, 2 * kMiB, 1);
  unsigned long long address = 0;
  cuMemAlloc_v2(&address, 100);
  cudaMemset(weights, 0, 3 * kMiB);
  cudaFreeAsync(cache, nullptr);
  cudaDeviceSynchronize();
  release(weights);
  cudaFree(managed);
  cuMemFree_v2(address);
  return 0;
}

int leak() {
  for (int i = 0; i < 2; ++i) load_weights(3 * kMiB);
  make_cache(1 * kMiB);
  release(load_weights(5 * kMiB));
  return 0;
}

int reset() {
  load_weights(3 * kMiB);
  void* managed = nullptr;
  cudaMallocManaged(&managed, 2 * kMiB, 1);
  return cudaDeviceReset();
}

int double_free() {
  void* const weights = load_weights(3 * kMiB);
  release(weights);
  shut_down(weights);
  return 0;
}

/// The address is another block's by then: nobody can tell.
int reused() {
  void* const first = load_weights(3 * kMiB);
  release(first);
  void* const second = load_weights(3 * kMiB);
  cudaMemset(first, 0, kMiB);
  release(second);
  return 0;
}

int use_after_free() {
  void* const weights = load_weights(3 * kMiB);
  char host[16] = {};
  release(weights);
  for (int i = 0; i < 3; ++i) {
    cudaMemcpy(host, static_cast<char*>(weights) + kMiB, sizeof(host), 2);  // mark: use
  }
  return 0;
}

int greedy() {
  load_weights(20 * kMiB);
  while (true) {
    void* pointer = nullptr;
    if (cudaMalloc(&pointer, 16 * kMiB) != 0) return 3;  // mark: greedy
  }
}

/// More than there are addresses.
int huge() {
  void* pointer = nullptr;
  return cudaMalloc(&pointer, ~std::size_t{0}) == 2 ? 0 : 1;
}

int throwing() {
  load_weights(3 * kMiB);
  std::abort();
}

/// Freed when the program's own objects are.
struct Owner {
  void* pointer = nullptr;
  ~Owner() { cudaFree(pointer); }
};
Owner owner;

int owned() {
  owner.pointer = load_weights(3 * kMiB);
  return 0;
}

struct Mode {
  const char* name;
  int (*run)();
};
constexpr Mode kModes[] = {{"clean", clean},       {"leak", leak},
                           {"reset", reset},       {"double_free", double_free},
                           {"reused", reused},     {"use_after_free", use_after_free},
                           {"greedy", greedy},     {"huge", huge},
                           {"throwing", throwing}, {"owned", owned}};

}  // namespace

int main(int count, char** words) {
  for (const Mode& mode : kModes) {
    if (count == 2 && std::strcmp(words[1], mode.name) == 0) return mode.run();
  }
  return 9;
}
