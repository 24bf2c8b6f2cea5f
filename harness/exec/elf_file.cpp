#include "harness/exec/elf_file.h"

#include <fstream>
#include <iterator>

namespace ohm::engine {

ElfFile::ElfFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  bytes_.assign(std::istreambuf_iterator<char>(stream), {});
  const bool is_elf = read(0, header_) && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
                      header_.e_ident[EI_CLASS] == ELFCLASS64;
  if (!is_elf) header_ = {};
}

Elf64_Shdr ElfFile::header_of(std::uint64_t section) const {
  Elf64_Shdr header = {};
  if (section < header_.e_shnum) read(header_.e_shoff + section * sizeof(header), header);
  return header;
}

std::string_view ElfFile::text_at(std::uint64_t offset) const {
  if (offset >= bytes_.size()) return {};
  const std::string_view rest = std::string_view(bytes_).substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::string_view ElfFile::section(std::string_view name) const {
  const Elf64_Shdr names = header_of(header_.e_shstrndx);
  for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
    const Elf64_Shdr header = header_of(i);
    if (text_at(names.sh_offset + header.sh_name) != name) continue;
    const bool is_readable =
        header.sh_type != SHT_NOBITS && (header.sh_flags & SHF_COMPRESSED) == 0;
    if (!is_readable || header.sh_offset > bytes_.size()) return {};
    return std::string_view(bytes_).substr(header.sh_offset, header.sh_size);
  }
  return {};
}

}  // namespace ohm::engine
