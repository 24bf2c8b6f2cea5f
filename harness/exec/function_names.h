// The names of functions in the files that a process had loaded, for addresses in them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ohm::engine {

/// Of one file, as far as its symbols say: distributions strip those that no other file calls.
class FunctionNames {
 public:
  /// A file that cannot be read, or is not an ELF file of this machine's kind, has none.
  explicit FunctionNames(const std::string& path);

  /// Of the function that the address is in, without its arguments; empty: not known.
  std::string name_at(std::uint64_t address) const;
  /// From the beginning of that function; 0: not known.
  std::uint64_t offset_at(std::uint64_t address) const;

 private:
  struct Function {
    std::uint64_t end = 0;
    std::string name;
  };

  using Row = std::pair<const std::uint64_t, Function>;
  const Row* row_at(std::uint64_t address) const;

  std::map<std::uint64_t, Function> functions_;  ///< by their beginnings
};

/// Whether the file has a function of this (mangled) name. False also for what cannot be read.
bool defines_function(const std::string& path, std::string_view name);

/// Files are read when they are asked for.
class ProgramFunctions {
 public:
  const FunctionNames& of(const std::string& path);

 private:
  std::map<std::string, FunctionNames> files_;
};

}  // namespace ohm::engine
