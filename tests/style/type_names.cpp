#include "tests/style/type_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace ohm::style {
namespace {

const char* const kUnnamed = "(unnamed)";

struct Definition {
  std::string name;  ///< with its namespaces
  std::string file;
  int line = 0;
};

/// Walks over the code of a source and keeps in which namespaces it is.
class DefinitionReader {
 public:
  explicit DefinitionReader(const SourceFile& source) : source_(source) {}

  std::vector<Definition> read() {
    for (const std::string& line : source_.lines) {
      ++line_;
      if (line.starts_with('#')) continue;
      for (const char character : line) step(character);
      head_ += ' ';
    }
    return std::move(found_);
  }

 private:
  void step(char character) {
    if (character == '{') {
      open();
    } else if (character == '}') {
      if (!scopes_.empty()) scopes_.pop_back();
    } else if (character != ';') {
      head_ += character;
      return;
    }
    head_.clear();
  }

  /// A brace after `head_`. An empty name is that of anything that is no namespace.
  void open() { scopes_.push_back(is_shared() && may_define() ? define() : ""); }

  /// Spares most braces the expressions below.
  bool may_define() const {
    constexpr std::array<std::string_view, 5> kKeywords = {"namespace", "struct", "class", "union",
                                                           "enum"};
    return std::any_of(kKeywords.begin(), kKeywords.end(), [&](std::string_view keyword) {
      return head_.find(keyword) != std::string::npos;
    });
  }

  /// The name of the namespace that `head_` opens; adds the type that it defines.
  std::string define() {
    static const std::regex kNamespace(R"((?:^|\s)namespace(?:\s+([\w:]+))?\s*$)");
    static const std::regex kType(
        R"((?:^|\s)(?:struct|class|union|enum(?:\s+class)?)\s+(?:\[\[\w+\]\]\s*)?([\w:]+(?:<.*>)?)\s*(?:final\s*)?(?::[^:].*)?$)");
    std::smatch match;
    if (std::regex_search(head_, match, kNamespace)) {
      return match[1].matched ? match[1].str() : kUnnamed;
    }
    if (std::regex_search(head_, match, kType)) add(match[1].str());
    return "";
  }

  bool is_shared() const {
    return std::none_of(scopes_.begin(), scopes_.end(), [](const std::string& scope) {
      return scope.empty() || scope == kUnnamed;
    });
  }

  void add(const std::string& name) {
    std::string full;
    for (const std::string& scope : scopes_) full += scope + "::";
    found_.push_back({full + name, source_.path, line_});
  }

  const SourceFile& source_;
  int line_ = 0;
  std::string head_;  ///< the code since the last brace or semicolon
  std::vector<std::string> scopes_;
  std::vector<Definition> found_;
};

}  // namespace

std::vector<Breach> find_types_defined_twice(const std::filesystem::path& root) {
  std::map<std::string, std::vector<Definition>> all;
  for (const SourceFile& source : read_sources(root)) {
    for (Definition& found : DefinitionReader(source).read()) {
      all[found.name].push_back(std::move(found));
    }
  }
  std::vector<Breach> breaches;
  for (const auto& [name, definitions] : all) {
    std::set<std::string_view> files;
    for (const Definition& one : definitions) files.insert(one.file);
    if (files.size() < 2) continue;
    for (const Definition& one : definitions) {
      breaches.push_back({one.file, one.line, fmt::format("{} has another definition", name)});
    }
  }
  return breaches;
}

}  // namespace ohm::style
