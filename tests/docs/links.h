// The links of a document to files of the project and to their headings.
#pragma once

#include <filesystem>
#include <vector>

#include "tests/docs/markdown.h"

namespace ohm::docs {

/// Links of a document in this folder that lead nowhere; addresses on the web are not looked at.
std::vector<Problem> broken_links(const Markdown& document, const std::filesystem::path& folder);

}  // namespace ohm::docs
