#include "harness/exec/function_names.h"

#include <cxxabi.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

namespace ohm::engine {

namespace {

/// Reads structures out of the bytes of a file.
class ElfBytes {
 public:
  explicit ElfBytes(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(stream), {});
  }

  template <typename Record>
  bool read(std::uint64_t offset, Record& record) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Record)) return false;
    std::memcpy(&record, bytes_.data() + offset, sizeof(Record));
    return true;
  }

  std::string_view text_at(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const std::string_view rest = std::string_view(bytes_).substr(offset);
    return rest.substr(0, rest.find('\0'));
  }

 private:
  std::string bytes_;
};

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0) return name;
  const std::string_view whole = text.get();
  // The arguments, and what is behind them. A function of a template has its own parentheses.
  const std::size_t end = whole.find('(');
  return std::string(end == std::string_view::npos || end == 0 ? whole : whole.substr(0, end));
}

bool is_elf_of_64_bits(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64;
}

/// Calls `tell(symbol, name)` for each function that the file defines.
template <typename Tell>
void each_function(const std::string& path, const Tell& tell) {
  const ElfBytes file(path);
  Elf64_Ehdr header = {};
  if (!file.read(0, header) || !is_elf_of_64_bits(header)) return;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table = {};
    Elf64_Shdr names = {};
    if (!file.read(header.e_shoff + i * sizeof(table), table)) return;
    if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
    if (!file.read(header.e_shoff + table.sh_link * sizeof(names), names)) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol = {};
      if (!file.read(table.sh_offset + at, symbol)) break;
      const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0;
      if (!is_function || symbol.st_shndx == SHN_UNDEF) continue;
      tell(symbol, file.text_at(names.sh_offset + symbol.st_name));
    }
  }
}

}  // namespace

FunctionNames::FunctionNames(const std::string& path) {
  each_function(path, [this](const Elf64_Sym& symbol, std::string_view name) {
    functions_.try_emplace(symbol.st_value,
                           Function{symbol.st_value + symbol.st_size, std::string(name)});
  });
}

bool defines_function(const std::string& path, std::string_view name) {
  bool is_defined = false;
  each_function(path, [&](const Elf64_Sym& /*symbol*/, std::string_view one) {
    is_defined = is_defined || one == name;
  });
  return is_defined;
}

std::string FunctionNames::name_at(std::uint64_t address) const {
  auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return {};
  const Function& function = std::prev(after)->second;
  return address < function.end ? demangled(function.name) : "";
}

const FunctionNames& ProgramFunctions::of(const std::string& path) {
  return files_.try_emplace(path, path).first->second;
}

}  // namespace ohm::engine
