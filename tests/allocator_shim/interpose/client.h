// A program of the kind that uses CUDA: it opens NVIDIA's libraries by their names and looks
// functions up, with the types that NVIDIA's headers give them.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace ohm::interpose {

inline void* library(const char* soname) {
  void* handle = dlopen(soname, RTLD_NOW);
  if (handle == nullptr) ADD_FAILURE() << dlerror();
  return handle;
}

/// `version`: of the symbol, where the name has several.
template <typename Type>
Type* function(const char* soname, const char* name, const char* version = nullptr) {
  void* handle = library(soname);
  void* found = version == nullptr ? dlsym(handle, name) : dlvsym(handle, name, version);
  if (found == nullptr) ADD_FAILURE() << dlerror();
  return reinterpret_cast<Type*>(found);
}

/// A kernel as nvcc's code registers it: of a fat binary without any code.
inline const void* registered_kernel() {
  struct Wrapper {
    std::uint32_t magic = 0x466243b1;
    std::uint32_t version = 1;
    const void* data = nullptr;
  };
  static Wrapper wrapper;
  static void** const image =
      function<void**(const void*)>("libcudart.so.12", "__cudaRegisterFatBinary")(&wrapper);
  static const char kernel = 'k';
  [[maybe_unused]] static const bool is_registered = [] {
    function<void(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*)>(
        "libcudart.so.12", "__cudaRegisterFunction")(image, &kernel, nullptr, "kernel", -1, nullptr,
                                                     nullptr, nullptr, nullptr, nullptr);
    return true;
  }();
  return &kernel;
}

// Results of both APIs, which agree on these.
inline constexpr int kSuccess = 0;
inline constexpr int kInvalidValue = 1;
inline constexpr int kOutOfMemory = 2;

inline constexpr const char* kRuntime = "libcudart.so.12";
inline constexpr const char* kDriver = "libcuda.so.1";

}  // namespace ohm::interpose
