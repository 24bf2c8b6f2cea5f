// The C++ and CUDA sources of the tree, read for the checks of style: their code and what they
// include.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::style {

struct Include {
  std::string path;  ///< as it is written between the brackets
  bool quoted = false;
  int line = 0;  ///< 1-based
};

struct SourceFile {
  std::string path;                ///< relative to the root of the tree
  std::vector<std::string> lines;  ///< the code: without comments and contents of literals
  std::vector<Include> includes;   ///< in the order of the lines
};

struct Breach {
  std::string file;  ///< relative to the root of the tree
  int line = 0;      ///< 1-based; 0: the file as a whole
  std::string what;  ///< the rule, in words

  friend bool operator==(const Breach&, const Breach&) = default;
};

/// The sources in allocator_shim, runtime, reports and harness under `root`, by path. Throws
/// std::runtime_error when one cannot be read.
std::vector<SourceFile> read_sources(const std::filesystem::path& root);

/// Whether the path of an include begins with one of those four folders.
bool is_ours(std::string_view path);

/// Whether `path` lies in `folder` or in a folder below it.
bool is_inside(std::string_view path, std::string_view folder);

/// `text` without comments and without the contents of literals; lines stay where they are, and
/// lines with an #include stay as they are.
std::string code_of(const std::string& text);

}  // namespace ohm::style
