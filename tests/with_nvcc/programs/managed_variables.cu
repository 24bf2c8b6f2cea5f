// exec: --gpu tiny-64m
// Variables of device code that the host uses directly, too.
#include "check.h"

__managed__ int counter;
__managed__ double table[1000];

__global__ void touch() { ++counter; }

int main() {
  counter = 9;
  table[999] = 0.5;
  touch<<<1, 1>>>();
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  CHECK(counter == 9 && table[999] == 0.5);
  int value = 0;
  OK(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
  CHECK(value == 9);
  value = 11;
  OK(cudaMemcpyToSymbol(counter, &value, sizeof(value)));
  CHECK(counter == 11);
  void* address;
  OK(cudaGetSymbolAddress(&address, table));
  CHECK(address == table);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, &counter));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  CHECK(cudaFree(&counter) == cudaErrorInvalidValue);
  OK(cudaDeviceReset());
  CHECK(counter == 11);
  return 0;
}
