// Modules of the driver: what programs load as an image, and the kernels that they find in it by
// name. None is run; what an image is for is read as far as it decides whether a call fails.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "allocator_shim/interpose/handle_pool.h"
#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

struct Module {
  bool has_names = false;       ///< false: its kernels are not known, and any name is one
  std::set<std::string> names;  ///< of its kernels
  std::map<std::string, std::size_t> variables;  ///< their bytes, by name
};

struct Kernel {
  Module* module = nullptr;
  std::string name;
};

/// A cubin, PTX, a fat binary with or without what nvcc puts around it, or what the stand-in's
/// compilers make: eight zeros.
Status load_module(Module*& module, const void* image);
/// Also file_not_found.
Status load_module_file(Module*& module, const char* path);
/// False: there is none.
bool unload_module(Module* module);
bool is_module(const Module* module);

/// The same handle for the same name.
Status find_kernel(Kernel*& kernel, Module* module, const char* name);
/// Also what the runtime gives for a kernel that the program has registered (cudaGetFuncBySymbol).
bool is_kernel(const Kernel* kernel);
/// nullptr: its module is the runtime's own.
Module* module_of(const Kernel* kernel);
/// As programs look it up; nullptr: there is no such kernel.
const char* driver_name_of_kernel(const Kernel* kernel);

/// A variable of a module, which is zeros. not_found: the module has none of this name, or its
/// variables are not known.
Status find_global(void*& address, std::size_t& bytes, Module* module, const char* name);

}  // namespace ohm::interpose
