#include "tests/style/named_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ohm::style {
namespace {

/// The headers that a comment names, as it writes them.
std::vector<std::string> headers_named_in(const std::string& line) {
  static const std::regex kHeader("[a-z0-9_/]+\\.h\\b");
  const std::size_t comment = line.find("//");
  if (comment == std::string::npos) return {};
  std::vector<std::string> named;
  const auto begin = line.begin() + static_cast<std::ptrdiff_t>(comment) + 2;
  for (std::sregex_iterator it(begin, line.end(), kHeader), end; it != end; ++it) {
    named.push_back(it->str());
  }
  return named;
}

bool is_there(const std::vector<SourceFile>& sources, std::string_view name) {
  return std::any_of(sources.begin(), sources.end(), [&](const SourceFile& source) {
    const std::string_view path = source.path;
    if (!path.ends_with(name)) return false;
    return path.size() == name.size() || path[path.size() - name.size() - 1] == '/';
  });
}

}  // namespace

std::vector<Breach> find_missing_headers(const std::filesystem::path& root) {
  const std::vector<SourceFile> sources = read_sources(root);
  std::vector<Breach> breaches;
  for (const SourceFile& source : sources) {
    std::ifstream stream(root / source.path);
    if (!stream) throw std::runtime_error(fmt::format("cannot read {}", source.path));
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
      ++number;
      for (const std::string& name : headers_named_in(line)) {
        if (is_there(sources, name)) continue;
        breaches.push_back({source.path, number, fmt::format("there is no {}", name)});
      }
    }
  }
  return breaches;
}

}  // namespace ohm::style
