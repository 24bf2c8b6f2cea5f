// Memory of the stand-in's devices, as the stand-ins of libraries read and write it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/dtype.h"
#include "tests/support/stand_in_driver/machine.h"

namespace ohm::stand_in {

/// `count` elements of the current card's memory; nullptr, and a note, where they are not there.
template <class T>
T* elements_at(const void* address, std::size_t count) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (number % sizeof(T) != 0) {
    machine().wrong("a misaligned address");
    return nullptr;
  }
  return static_cast<T*>(memory_at(machine().card(), number, count * sizeof(T)));
}

/// A workspace that a library is given: it must be there, and is written all over.
inline bool use_workspace(void* address, std::size_t bytes) {
  machine().library_workspace = reinterpret_cast<std::uintptr_t>(address);
  if (bytes == 0) return true;
  auto* const memory = elements_at<unsigned char>(address, bytes);
  if (memory == nullptr) return false;
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = 0x5a;
  return true;
}

/// A factor as the caller has it in the host's memory: double for float64, else float.
template <class T>
double factor_at(const void* address) {
  return sizeof(T) == sizeof(double) ? *static_cast<const double*>(address)
                                     : static_cast<double>(*static_cast<const float*>(address));
}

template <class T>
double number(T element) {
  return convert_element<double>(element);
}

}  // namespace ohm::stand_in
