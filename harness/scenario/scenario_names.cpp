#include "harness/scenario/scenario_names.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "allocator_shim/base/nearest_name.h"
#include "harness/process/shipped_files.h"

namespace ohm::engine {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> scenarios_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".lua" && entry.is_regular_file(error)) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> local_scenarios() { return scenarios_in("scenarios"); }

std::vector<std::string> shipped_scenarios() {
  for (const fs::path& folder : shipped_places(OHM_BUILT_SCENARIOS, OHM_INSTALLED_SCENARIOS)) {
    std::vector<std::string> files = scenarios_in(folder);
    if (!files.empty()) return files;
  }
  return {};
}

std::vector<std::string> all_scenarios() {
  std::vector<std::string> files = local_scenarios();
  for (std::string& file : shipped_scenarios()) files.push_back(std::move(file));
  return files;
}

}  // namespace

std::vector<std::string> default_scenario_files() {
  std::vector<std::string> files = local_scenarios();
  return files.empty() ? shipped_scenarios() : files;
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const std::string& file : all_scenarios()) names.push_back(fs::path(file).stem().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string similar_scenario(const std::string& name) {
  constexpr std::size_t kShortestPart = 4;
  const std::vector<std::string> names = scenario_names();
  std::string nearest = nearest_name(name, names);
  if (!nearest.empty() || name.size() < kShortestPart) return nearest;
  const auto with_it = std::find_if(names.begin(), names.end(), [&](const std::string& one) {
    return one.find(name) != std::string::npos;
  });
  return with_it == names.end() ? "" : *with_it;
}

bool is_scenario_name(const std::string& text) {
  return !text.empty() && text.find_first_of("/.") == std::string::npos;
}

std::string scenario_file(const std::string& text) {
  // A folder of that name is no scenario.
  std::error_code error;
  const bool is_file = fs::exists(text, error) && !fs::is_directory(text, error);
  if (is_file || !is_scenario_name(text)) return text;
  const std::vector<std::string> files = all_scenarios();
  const auto named = std::find_if(files.begin(), files.end(), [&](const std::string& file) {
    return fs::path(file).stem() == text;
  });
  return named == files.end() ? text : *named;
}

}  // namespace ohm::engine
