#include "harness/scenario/required_modules.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/scenario/source_file.h"

namespace ohm::engine {

namespace {

namespace fs = std::filesystem;

bool is_module_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.front() != '.' && name.back() != '.' &&
         name.find("..") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

/// What stands in quotes, or in double brackets, behind each `require`.
std::vector<std::string_view> quoted_names(std::string_view source) {
  constexpr std::string_view kRequire = "require";
  std::vector<std::string_view> names;
  for (std::size_t at = source.find(kRequire); at != std::string_view::npos;
       at = source.find(kRequire, at + 1)) {
    const std::size_t open = source.find_first_not_of(" \t\r\n(", at + kRequire.size());
    if (open == std::string_view::npos) break;
    const std::string_view rest = source.substr(open);
    const bool is_bracketed = rest.starts_with("[[");
    if (!is_bracketed && rest.front() != '"' && rest.front() != '\'') continue;
    const std::string_view end = is_bracketed ? "]]" : rest.substr(0, 1);
    const std::size_t close = rest.find(end, end.size());
    if (close != std::string_view::npos) {
      names.push_back(rest.substr(end.size(), close - end.size()));
    }
  }
  return names;
}

std::optional<std::string> module_file(const std::string& script_path, std::string_view name) {
  const auto places = module_places(script_path, name);
  if (!places) return std::nullopt;
  const auto* const found =
      std::find_if(places->begin(), places->end(), [](const std::string& place) {
        std::error_code unknown;
        return fs::exists(place, unknown);
      });
  if (found == places->end()) return std::nullopt;
  return *found;
}

/// Empty for what cannot be read: the script that requires it is told why.
std::string source_or_empty(const std::string& path) {
  try {
    return read_source_file(path);
  } catch (const ScriptError&) {
    return {};
  }
}

/// With an empty text for one that cannot be read.
ModuleTexts modules_named_in(const std::string& path, std::string_view source) {
  ModuleTexts modules;
  struct Unsearched {
    std::string path;
    std::string text;
  };
  std::vector<Unsearched> unsearched = {{path, std::string(source)}};
  while (!unsearched.empty()) {
    const Unsearched script = std::move(unsearched.back());
    unsearched.pop_back();
    for (const std::string_view name : quoted_names(script.text)) {
      const std::optional<std::string> file = module_file(path, name);
      if (!file || modules.contains(*file)) continue;
      const std::string& text = modules[*file] = source_or_empty(*file);
      unsearched.push_back({*file, text});
    }
  }
  return modules;
}

}  // namespace

std::optional<std::array<std::string, 2>> module_places(const std::string& script_path,
                                                        std::string_view name) {
  if (!is_module_name(name)) return std::nullopt;
  std::string file(name);
  std::replace(file.begin(), file.end(), '.', '/');
  file += ".lua";
  const fs::path folder = fs::path(script_path).parent_path();
  return std::array{(folder / file).string(), (folder / "lib" / file).string()};
}

ModuleTexts required_modules(const std::string& path, std::string_view source) {
  ModuleTexts modules = modules_named_in(path, source);
  std::erase_if(modules, [](const auto& module) { return module.second.empty(); });
  return modules;
}

std::vector<std::string> required_modules(const std::string& path) {
  std::vector<std::string> files;
  for (const auto& [file, text] : modules_named_in(path, source_or_empty(path))) {
    files.push_back(file);
  }
  return files;
}

}  // namespace ohm::engine
