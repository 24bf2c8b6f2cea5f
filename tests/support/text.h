// Words in what is printed.
#pragma once

#include <sstream>
#include <string>

namespace ohm::test {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Every run of blanks and line ends becomes one blank: sentences as they were before they were
/// wrapped.
inline std::string on_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string out;
  for (std::string word; words >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace ohm::test
