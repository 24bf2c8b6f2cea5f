#include "tests/style/source_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ohm::style {
namespace {

constexpr std::array<std::string_view, 4> kTopFolders = {"allocator_shim", "runtime", "reports",
                                                         "harness"};
constexpr std::array<std::string_view, 5> kExtensions = {".h", ".cpp", ".cu", ".cuh", ".inc"};

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

std::optional<Include> include_of(std::string_view line, int number) {
  line = without_blanks(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = without_blanks(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = without_blanks(line.substr(std::string_view("include").size()));
  const bool quoted = line.starts_with('"');
  if (!quoted && !line.starts_with('<')) return std::nullopt;
  return Include{std::string(line.substr(1, line.find_first_of("\">", 1) - 1)), quoted, number};
}

bool is_source(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

SourceFile read_source(const std::filesystem::path& root, const std::filesystem::path& file) {
  SourceFile source;
  source.path = file.lexically_relative(root).generic_string();
  std::istringstream lines(code_of(read_text(file)));
  for (std::string line; std::getline(lines, line);) {
    source.lines.push_back(line);
    if (auto include = include_of(line, static_cast<int>(source.lines.size()))) {
      source.includes.push_back(std::move(*include));
    }
  }
  return source;
}

}  // namespace

bool is_inside(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

bool is_ours(std::string_view path) {
  return std::any_of(kTopFolders.begin(), kTopFolders.end(),
                     [&](std::string_view top) { return is_inside(path, top); });
}

std::vector<SourceFile> read_sources(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> files;
  for (const std::string_view top : kTopFolders) {
    if (!std::filesystem::is_directory(root / top)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / top)) {
      if (entry.is_regular_file() && is_source(entry.path())) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<SourceFile> sources;
  sources.reserve(files.size());
  for (const auto& file : files) sources.push_back(read_source(root, file));
  return sources;
}

}  // namespace ohm::style
