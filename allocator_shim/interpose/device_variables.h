// Variables of device code, which nvcc's code registers when a library is loaded. Memory of the
// host stands for each, zeros at first: what a program initializes them with is not read.
#pragma once

#include <cstddef>
#include <optional>

namespace ohm::interpose {

struct DeviceVariable {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
};

/// From any thread.
void register_variable(const void* symbol, std::size_t bytes);

/// One of managed memory, which host code reaches by the pointer at `place`.
void register_managed_variable(void** place, std::size_t bytes);
/// Makes those that were registered known as managed memory.
void adopt_managed_variables();

/// nullopt: nobody registered it, or the host has no memory for it.
std::optional<DeviceVariable> find_variable(const void* symbol);

}  // namespace ohm::interpose
