// The file that a program or a library was loaded from: its functions by name. They are read from
// the symbols that linkers leave for debuggers, which are not loaded.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <string_view>

namespace ohm::interpose {

class ObjectFile {
 public:
  /// A file that cannot be read has no functions.
  explicit ObjectFile(const char* path);
  ~ObjectFile();
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;

  /// Calls visit(name, symbol) for each function that the file defines: of all where symbols were
  /// not stripped, or else of those that other files may call.
  template <typename Visit>
  void each_function(Visit&& visit) const {
    const ElfW(Shdr)* const table = symbol_table();
    if (table == nullptr) return;
    const auto* const names = section(table->sh_link);
    if (names == nullptr) return;
    const auto* symbol = reinterpret_cast<const ElfW(Sym)*>(bytes_ + table->sh_offset);
    for (std::size_t left = table->sh_size / sizeof(*symbol); left > 0; --left, ++symbol) {
      const bool is_function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
      if (!is_function || symbol->st_shndx == SHN_UNDEF || symbol->st_size == 0) continue;
      if (symbol->st_name >= names->sh_size) continue;
      visit(reinterpret_cast<const char*>(bytes_ + names->sh_offset + symbol->st_name), *symbol);
    }
  }

 private:
  const ElfW(Ehdr) & header() const { return *reinterpret_cast<const ElfW(Ehdr)*>(bytes_); }
  bool has(std::size_t offset, std::size_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset;
  }
  /// nullptr: there is none, or it is not in the file.
  const ElfW(Shdr) * section(std::size_t index) const;
  const ElfW(Shdr) * symbol_table() const;

  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ohm::interpose
