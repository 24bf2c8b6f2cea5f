// exec: --gpu tiny-64m
// Kernels of a library that a program loads with calls of the runtime.
#include <cstdio>
#include <cstring>

#include "check.h"

static const char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .f32 factor;\n"
    ".visible .entry one(){ret;}\n.visible .entry two(){ret;}\n";

int main() {
  cudaLibrary_t library;
  cudaKernel_t kernel, kernels[2];
  CHECK(cudaLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0) ==
        cudaErrorInvalidValue);
  CHECK(cudaLibraryLoadFromFile(&library, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr,
                                0) == cudaErrorFileNotFound);
  OK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  OK(cudaLibraryGetKernelCount(&count, library));
  CHECK(count == 2);
  OK(cudaLibraryEnumerateKernels(kernels, 2, library));
  OK(cudaLibraryGetKernel(&kernel, library, "one"));
  CHECK(kernel == kernels[0] || kernel == kernels[1]);
  CHECK(cudaLibraryGetKernel(&kernel, library, "three") == cudaErrorSymbolNotFound);
  const char* name = "";
  OK(cudaFuncGetName(&name, kernels[0]));
  CHECK(std::strcmp(name, "one") == 0 || std::strcmp(name, "two") == 0);
  void* factor = nullptr;
  std::size_t bytes = 0;
  OK(cudaLibraryGetGlobal(&factor, &bytes, library, "factor"));
  CHECK(bytes == 4);
  const float two = 2;
  float back = 0;
  OK(cudaMemcpy(factor, &two, 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(&back, factor, 4, cudaMemcpyDeviceToHost));
  CHECK(back == 2);
  OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernels[0]), dim3(1), dim3(32), nullptr, 0, 0));
  OK(cudaLibraryUnload(library));
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernels[0]), dim3(1), dim3(32), nullptr, 0,
                         0) != cudaSuccess);
  CHECK(cudaLibraryUnload(library) == cudaErrorInvalidResourceHandle);
  return 0;
}
