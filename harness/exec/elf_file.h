// The bytes of an ELF file of 64 bits: its symbols and sections.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ohm::engine {

/// A file that cannot be read, or is of another kind, has no symbols and no sections.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path);

  /// Empty: there is none, or it is compressed.
  std::string_view section(std::string_view name) const;

  /// Calls `tell(symbol, name)` for each function that the file defines.
  template <typename Tell>
  void each_function(const Tell& tell) const {
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
      const Elf64_Shdr table = header_of(i);
      if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
      const Elf64_Shdr names = header_of(table.sh_link);
      for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol = {};
        if (!read(table.sh_offset + at, symbol)) break;
        const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0;
        if (!is_function || symbol.st_shndx == SHN_UNDEF) continue;
        tell(symbol, text_at(names.sh_offset + symbol.st_name));
      }
    }
  }

 private:
  template <typename Record>
  bool read(std::uint64_t offset, Record& record) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Record)) return false;
    std::memcpy(&record, bytes_.data() + offset, sizeof(Record));
    return true;
  }
  /// Of zeros where there is none.
  Elf64_Shdr header_of(std::uint64_t section) const;
  std::string_view text_at(std::uint64_t offset) const;

  std::string bytes_;
  Elf64_Ehdr header_ = {};
};

}  // namespace ohm::engine
