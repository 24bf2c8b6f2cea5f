#include "harness/scenario/snapshot_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace ohm::engine {

namespace {

constexpr std::string_view kScenario = "{scenario}";
constexpr std::string_view kVariant = "{variant}";

bool is_folder(const std::string& path) {
  std::error_code unknown;
  return path.ends_with('/') || std::filesystem::is_directory(path, unknown);
}

void check_braces(std::string_view pattern) {
  for (std::size_t i = pattern.find('{'); i < pattern.size(); i = pattern.find('{', i + 1)) {
    const std::string_view rest = pattern.substr(i);
    if (rest.starts_with(kScenario) || rest.starts_with(kVariant)) continue;
    const std::string_view word = rest.substr(0, std::min(rest.find('}'), rest.size() - 1) + 1);
    throw std::invalid_argument(
        fmt::format("\"{}\": only {} and {} may be in braces", word, kScenario, kVariant));
  }
}

void replace(std::string& text, std::string_view word, std::string_view with) {
  for (std::size_t i = text.find(word); i != std::string::npos; i = text.find(word, i)) {
    text.replace(i, word.size(), with);
    i += with.size();
  }
}

}  // namespace

SnapshotPaths::SnapshotPaths(std::string pattern, const std::vector<std::string>& scenario_files)
    : text_(std::move(pattern)), pattern_(text_) {
  if (text_.empty()) throw std::invalid_argument("the path is empty");
  if (text_ == "-")
    throw std::invalid_argument("a snapshot goes to a file, not to standard output");
  if (is_folder(text_)) {
    pattern_ = fmt::format("{}{}{}.{}.pickle", text_, text_.ends_with('/') ? "" : "/", kScenario,
                           kVariant);
  }
  check_braces(pattern_);
  std::map<std::string, std::string> file_of;
  for (const std::string& file : scenario_files) {
    const auto [other, is_new] = file_of.emplace(path_for(file, ""), file);
    if (is_new || other->second == file) continue;
    throw std::invalid_argument(fmt::format(
        "the snapshots of {} and {} would have the same path; add {} to it, or run one of them",
        other->second, file, kScenario));
  }
}

bool SnapshotPaths::tells_variants_apart() const {
  return pattern_.find(kVariant) != std::string::npos;
}

std::string SnapshotPaths::path_for(const std::string& scenario_file,
                                    const std::string& variant) const {
  std::string path = pattern_;
  replace(path, kVariant, variant);
  replace(path, kScenario, std::filesystem::path(scenario_file).stem().string());
  return path;
}

}  // namespace ohm::engine
