// The source lines of a file's code, as compilers note them for debuggers (DWARF 2 to 5).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::engine {

struct SourceLine {
  std::string_view file;  ///< empty: not known
  int line = 0;
};

/// A program that was not compiled with -g has none; nor has one with compressed sections.
class LineTable {
 public:
  explicit LineTable(const std::string& path);

  /// As long as the table lives.
  SourceLine at(std::uint64_t address) const;

  /// Where code of one line begins; line 0: where what is known ends.
  struct Row {
    std::uint64_t address = 0;
    std::uint32_t file = 0;
    int line = 0;
  };

 private:
  std::vector<std::string> files_;
  std::vector<Row> rows_;  ///< by address
};

/// Files are read when they are asked for.
class ProgramLines {
 public:
  const LineTable& of(const std::string& path) {
    return files_.try_emplace(path, path).first->second;
  }

 private:
  std::map<std::string, LineTable> files_;
};

}  // namespace ohm::engine
