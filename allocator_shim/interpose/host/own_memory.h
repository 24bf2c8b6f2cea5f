// Memory of the library itself, straight from the system: what it keeps must not be seen by what it
// watches. It is zero until written to.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ohm::interpose::host {

/// Where tables of the library come to lie: far from where a program's own pages do, so that these
/// have the same addresses in each run, however large the tables are. Where one is taken any other
/// does.
enum class OwnPlace : std::uintptr_t {
  sites = std::uintptr_t{0x2200} << 32U,
  slots = std::uintptr_t{0x2300} << 32U,
  frames = std::uintptr_t{0x2400} << 32U,
  modules = std::uintptr_t{0x2500} << 32U,
  blocks = std::uintptr_t{0x2600} << 32U,
  ranges = std::uintptr_t{0x2700} << 32U,
  marks = std::uintptr_t{0x2800} << 32U,
  pending = std::uintptr_t{0x2900} << 32U,
  mappings = std::uintptr_t{0x2a00} << 32U,
};

/// Whether the library's own memory may lie at the address.
constexpr bool is_own_place(std::uintptr_t address) {
  return address >> 32U >= 0x2000 && address >> 32U < 0x2b00;
}

/// A table that takes what it needs: a program may have little address space left (RLIMIT_AS).
/// What it holds moves when it grows. Its memory goes with the process.
template <typename Element>
class OwnTable {
 public:
  constexpr explicit OwnTable(OwnPlace place) : place_(static_cast<std::uintptr_t>(place)) {}

  Element* data() { return data_; }
  const Element* data() const { return data_; }
  std::size_t size() const { return size_; }
  Element& operator[](std::size_t index) { return data_[index]; }
  const Element& operator[](std::size_t index) const { return data_[index]; }

  /// At least `count` elements, those behind the former ones zero. False where there is no memory:
  /// then it is as it was.
  bool reserve(std::size_t count) {
    if (count <= size_) return true;
    const std::size_t larger = std::max(count, 2 * size_);
    Element* const memory = taken(larger);
    if (memory == nullptr) return false;
    if (size_ > 0) std::memcpy(memory, data_, size_ * sizeof(Element));
    release();
    data_ = memory;
    size_ = larger;
    return true;
  }

  /// `count` elements, all zero; what it held is lost. False as of reserve().
  bool replace(std::size_t count, OwnTable& former) {
    Element* const memory = taken(count);
    if (memory == nullptr) return false;
    former.data_ = data_;
    former.size_ = size_;
    data_ = memory;
    size_ = count;
    return true;
  }

  void release() {
    if (data_ != nullptr) syscall(SYS_munmap, data_, size_ * sizeof(Element));
    data_ = nullptr;
    size_ = 0;
  }

 private:
  Element* taken(std::size_t count) {
    constexpr std::size_t kPage = 4096;
    const std::size_t bytes = count * sizeof(Element);
    const long address = syscall(SYS_mmap, place_, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == -1) return nullptr;
    // The next one comes to lie behind it, whatever is released meanwhile.
    place_ += (bytes + kPage - 1) / kPage * kPage;
    return reinterpret_cast<Element*>(address);
  }

  std::uintptr_t place_;
  Element* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ohm::interpose::host
