// Memory of the library itself, straight from the system: what it keeps must not be seen by what it
// watches. It is zero until written to, and takes nothing until then.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace ohm::interpose::host {

/// nullptr where there is none left.
template <typename Element>
Element* own_memory(std::size_t count) {
  const long address = syscall(SYS_mmap, nullptr, count * sizeof(Element), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == -1 ? nullptr : reinterpret_cast<Element*>(address);
}

template <typename Element>
void release_own_memory(Element* memory, std::size_t count) {
  syscall(SYS_munmap, memory, count * sizeof(Element));
}

}  // namespace ohm::interpose::host
