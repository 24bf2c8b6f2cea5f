#include "allocator_shim/interpose/host/call_stack.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <cstring>
#include <initializer_list>
#include <string_view>

// The linker's names for where this library begins and ends.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" const char __ehdr_start __attribute__((visibility("hidden")));
extern "C" const char _end __attribute__((visibility("hidden")));
// NOLINTEND(readability-identifier-naming)

namespace ohm::interpose::host {

bool is_own_code(std::uintptr_t address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  const auto end = reinterpret_cast<std::uintptr_t>(&_end);
  return address - begin < end - begin;
}

namespace {

std::string_view file_name(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

bool begins_with_one_of(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  for (const std::string_view beginning : beginnings) {
    if (name.starts_with(beginning)) return true;
  }
  return false;
}

}  // namespace

bool is_c_library(std::string_view path) {
  return begins_with_one_of(file_name(path), {"libc.so", "libc-2", "ld-linux", "ld-2", "ld-musl"});
}

bool is_cpp_library(std::string_view path) {
  return begins_with_one_of(file_name(path),
                            {"libstdc++.so", "libgcc_s.so", "libc++.so", "libc++abi.so"});
}

bool is_of_c_library(std::uintptr_t address) {
  dl_find_object found = {};
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0 &&
         is_c_library(found.dlfo_link_map->l_name);
}

namespace {

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* into) {
  CallStack& stack = *static_cast<CallStack*>(into);
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (address == 0) return _URC_END_OF_STACK;
  const std::size_t first = stack.begins_with_entry ? 1 : 0;
  if (stack.depth <= first && is_own_code(address)) {
    stack.addresses[0] = address;
    stack.depth = first;
    return _URC_NO_REASON;
  }
  stack.addresses[stack.depth++] = address;
  return stack.depth == kMostFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

constexpr std::uint64_t kHashStart = 0xcbf29ce484222325;

std::uint64_t hashed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

/// Of the file's name without its folders.
std::uint64_t name_hash(const char* path) {
  std::uint64_t hash = kHashStart;
  for (const char c : file_name(path)) hash = hashed(hash, static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

void capture(CallStack& stack) {
  stack.depth = 0;
  _Unwind_Backtrace(add_frame, &stack);
}

bool ModuleTable::prepare() { return modules_.reserve(kFirstModules); }

Frame ModuleTable::frame_of(std::uintptr_t address) {
  for (std::size_t i = count_; i-- > 0;) {
    const Module& module = modules_[i];
    if (address - module.begin < module.end - module.begin) {
      return {static_cast<std::uint32_t>(i + 1), address - module.base};
    }
  }
  dl_find_object found = {};
  const bool is_found =
      count_ < kMostModules && _dl_find_object(reinterpret_cast<void*>(address), &found) == 0;
  if (!is_found || !modules_.reserve(count_ + 1)) return {};
  Module& module = modules_[count_++];
  module.begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  module.end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
  module.base = found.dlfo_link_map->l_addr;
  const char* const path = found.dlfo_link_map->l_name;
  std::strncpy(module.path.data(), path, module.path.size() - 1);
  module.name_hash = name_hash(path);
  return {static_cast<std::uint32_t>(count_), address - module.base};
}

PointHash ModuleTable::hash_of(std::span<const Frame> frames) const {
  std::uint64_t hash = kHashStart;
  for (const Frame& frame : frames) {
    hash = hashed(hash, frame.module == 0 ? 0 : modules_[frame.module - 1].name_hash);
    hash = hashed(hash, frame.module == 0 ? 0 : frame.address);
  }
  return hash == 0 ? 1 : hash;
}

}  // namespace ohm::interpose::host
