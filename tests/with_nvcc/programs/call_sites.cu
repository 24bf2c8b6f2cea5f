// What ohm exec reports of a program by call site: a leak, a double free, a use of freed memory.
// exec: --gpu tiny-64m --gate peak_allocated_bytes<=8MiB
// says: memory never freed on cuda:0
// says: 3.00 MiB in 1 block of load_weights
// says: double free on cuda:0
// says: use after free on cuda:0
#include "check.h"

__attribute__((noinline)) float* load_weights(std::size_t bytes) {
  float* weights = nullptr;
  OK(cudaMalloc(&weights, bytes));
  return weights;
}

__attribute__((noinline)) cudaError_t release(void* pointer) { return cudaFree(pointer); }

int main() {
  load_weights(3 * kMiB);
  float* const freed = load_weights(1 * kMiB);
  OK(release(freed));
  CHECK(release(freed) == cudaErrorInvalidValue);
  CHECK(cudaMemset(freed, 0, 16) == cudaErrorInvalidValue);
}
