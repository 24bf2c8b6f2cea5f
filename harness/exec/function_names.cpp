#include "harness/exec/function_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <iterator>
#include <memory>
#include <string_view>

#include "harness/exec/elf_file.h"

namespace ohm::engine {

namespace {

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

}  // namespace

FunctionNames::FunctionNames(const std::string& path) {
  ElfFile(path).each_function([this](const Elf64_Sym& symbol, std::string_view name) {
    functions_.try_emplace(symbol.st_value,
                           Function{symbol.st_value + symbol.st_size, std::string(name)});
  });
}

bool defines_function(const std::string& path, std::string_view name) {
  bool is_defined = false;
  ElfFile(path).each_function([&](const Elf64_Sym& /*symbol*/, std::string_view one) {
    is_defined = is_defined || one == name;
  });
  return is_defined;
}

const FunctionNames::Row* FunctionNames::row_at(std::uint64_t address) const {
  const auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return nullptr;
  const Row& row = *std::prev(after);
  return address < row.second.end ? &row : nullptr;
}

std::string FunctionNames::name_at(std::uint64_t address) const {
  const Row* const row = row_at(address);
  return row == nullptr ? "" : demangled(row->second.name);
}

std::uint64_t FunctionNames::offset_at(std::uint64_t address) const {
  const Row* const row = row_at(address);
  return row == nullptr ? 0 : address - row->first;
}

const FunctionNames& ProgramFunctions::of(const std::string& path) {
  return files_.try_emplace(path, path).first->second;
}

}  // namespace ohm::engine
