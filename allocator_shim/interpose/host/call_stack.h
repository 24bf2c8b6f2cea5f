// The calls that led to a request, as addresses, and what file of the program an address is in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "allocator_shim/interpose/host/host_settings.h"
#include "allocator_shim/interpose/host/own_memory.h"

namespace ohm::interpose::host {

/// Calls further out are not part of a point: a program that calls itself would have one for each
/// depth.
inline constexpr std::size_t kMostFrames = 24;

/// Addresses after the calls, the innermost first; this library's own are left out, but for the
/// one that the program called where it is asked for.
struct CallStack {
  std::array<std::uintptr_t, kMostFrames> addresses;
  std::size_t depth = 0;
  /// The first one is in this library's function that the program called.
  bool begins_with_entry = false;

  std::span<const std::uintptr_t> frames() const { return {addresses.data(), depth}; }
};

/// Of the caller. Takes no lock and asks for no memory: unwinding needs the tables that every
/// program of the system has, no frame pointers.
void capture(CallStack& stack);

/// Whether the address is in this library.
bool is_own_code(std::uintptr_t address);
/// Whether it is in the C library or the loader.
bool is_of_c_library(std::uintptr_t address);
/// By the name of their file: the C library and the loader, the C++ library and what it needs.
bool is_c_library(std::string_view path);
bool is_cpp_library(std::string_view path);

/// What of a file is loaded: a program or a library.
struct Module {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uintptr_t base = 0;  ///< what its own addresses are relative to
  std::uint64_t name_hash = 0;
  std::array<char, 256> path = {};  ///< empty: the program
};

struct Frame {
  std::uint32_t module = 0;   ///< index + 1; 0: none, which is code that the program made
  std::uint64_t address = 0;  ///< in the module

  bool operator==(const Frame&) const = default;
};

/// The modules of a process, in the order in which they were met. One thread at a time.
class ModuleTable {
 public:
  bool prepare();
  Frame frame_of(std::uintptr_t address);
  std::span<const Module> modules() const { return {modules_.data(), count_}; }
  /// Of the frames by the names of their files: the same in every process.
  PointHash hash_of(std::span<const Frame> frames) const;

 private:
  static constexpr std::size_t kMostModules = 1024;

  static constexpr std::size_t kFirstModules = 16;

  OwnTable<Module> modules_{OwnPlace::modules};
  std::size_t count_ = 0;
};

}  // namespace ohm::interpose::host
