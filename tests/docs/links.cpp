#include "tests/docs/links.h"

#include <algorithm>
#include <string>

#include "tests/support/golden.h"

namespace ohm::docs {

std::vector<Problem> broken_links(const Markdown& document, const std::filesystem::path& folder) {
  std::vector<Problem> problems;
  for (const Span& link : document.links) {
    if (link.text.find("://") != std::string::npos) continue;
    const std::size_t hash = std::min(link.text.find('#'), link.text.size());
    const std::filesystem::path file = folder / link.text.substr(0, hash);
    if (hash > 0 && !std::filesystem::exists(file)) {
      problems.push_back({link.line, "there is no file " + link.text});
      continue;
    }
    if (hash == link.text.size()) continue;
    const std::vector<std::string> anchors =
        hash == 0 ? document.anchors : parse_markdown(test::read_file(file.string())).anchors;
    if (std::find(anchors.begin(), anchors.end(), link.text.substr(hash + 1)) == anchors.end()) {
      problems.push_back({link.line, "there is no heading " + link.text});
    }
  }
  return problems;
}

}  // namespace ohm::docs
