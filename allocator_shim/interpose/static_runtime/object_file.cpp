#include "allocator_shim/interpose/static_runtime/object_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace ohm::interpose {

ObjectFile::ObjectFile(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status = {};
  if (fstat(file, &status) == 0 && static_cast<std::size_t>(status.st_size) > sizeof(header())) {
    size_ = static_cast<std::size_t>(status.st_size);
    void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) bytes_ = static_cast<const std::byte*>(mapped);
  }
  close(file);
  if (bytes_ == nullptr || std::memcmp(header().e_ident, ELFMAG, SELFMAG) != 0) size_ = 0;
}

ObjectFile::~ObjectFile() {
  if (bytes_ != nullptr) munmap(const_cast<std::byte*>(bytes_), size_);
}

const ElfW(Shdr) * ObjectFile::section(std::size_t index) const {
  const std::size_t offset = header().e_shoff + index * sizeof(ElfW(Shdr));
  if (index >= header().e_shnum || !has(offset, sizeof(ElfW(Shdr)))) return nullptr;
  const auto* const found = reinterpret_cast<const ElfW(Shdr)*>(bytes_ + offset);
  const bool is_in_file = found->sh_type != SHT_NOBITS && has(found->sh_offset, found->sh_size);
  return is_in_file ? found : nullptr;
}

const ElfW(Shdr) * ObjectFile::symbol_table() const {
  if (size_ == 0) return nullptr;
  const ElfW(Shdr)* exported = nullptr;
  for (std::size_t i = 0; i < header().e_shnum; ++i) {
    const ElfW(Shdr)* const one = section(i);
    if (one == nullptr) continue;
    if (one->sh_type == SHT_SYMTAB) return one;
    if (one->sh_type == SHT_DYNSYM) exported = one;
  }
  return exported;
}

}  // namespace ohm::interpose
