// A program of the kind that uses CUDA: it opens NVIDIA's libraries by their names and looks
// functions up, with the types that NVIDIA's headers give them.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

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

// Results of both APIs, which agree on these.
inline constexpr int kSuccess = 0;
inline constexpr int kInvalidValue = 1;
inline constexpr int kOutOfMemory = 2;

inline constexpr const char* kRuntime = "libcudart.so.12";
inline constexpr const char* kDriver = "libcuda.so.1";

}  // namespace ohm::interpose
