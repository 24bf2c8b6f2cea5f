// What holds of the documents without running anything: their sizes, their links, their lists.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/docs/documents.h"
#include "tests/docs/links.h"
#include "tests/docs/markdown.h"
#include "tests/support/golden.h"

namespace ohm::docs {
namespace {

std::string text_of(const std::string& file) { return test::read_file(source_path(file)); }

/// Characters, not bytes: a continuation byte of UTF-8 is none.
std::size_t width(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

TEST(Readme, IsReadInFiveMinutes) {
  const std::string readme = text_of("README.md");
  EXPECT_LE(split_lines(readme).size(), 200U);
  EXPECT_LE(readme.size(), 12U * 1024U);
}

TEST(Changelog, HasLinesOfAtMost100Columns) {
  int number = 0;
  for (const std::string& line : split_lines(text_of("CHANGELOG.md"))) {
    ++number;
    EXPECT_LE(width(line), 100U) << "CHANGELOG.md:" << number;
  }
}

TEST(Documents, LinkToFilesAndHeadingsThatExist) {
  std::vector<std::string> files = documents_with_commands();
  files.insert(files.end(), {"CONTRIBUTING.md", "CHANGELOG.md"});
  for (const std::string& file : files) {
    const std::filesystem::path folder = std::filesystem::path(source_path(file)).parent_path();
    for (const Problem& problem : broken_links(parse_markdown(text_of(file)), folder)) {
      ADD_FAILURE() << file << ':' << problem.line << ": " << problem.what;
    }
  }
}

/// `harness/judge`, `tests/run`: a folder or a file of the sources, not of a build.
bool is_source_path(const std::string& text) {
  static const std::regex kPath(
      "(allocator_shim|docs|harness|reports|runtime|scenarios|tests)/[A-Za-z0-9_/.]*");
  return std::regex_match(text, kPath);
}

TEST(Documents, NameFoldersAndFilesThatExist) {
  std::vector<std::string> files = documents_with_commands();
  files.emplace_back("CONTRIBUTING.md");
  for (const std::string& file : files) {
    for (const Span& span : parse_markdown(text_of(file)).code_spans) {
      if (!is_source_path(span.text)) continue;
      EXPECT_TRUE(std::filesystem::exists(source_path(span.text)))
          << file << ':' << span.line << ": " << span.text;
    }
  }
}

TEST(Documents, AreAllFoundFromTheReadme) {
  const std::string readme = text_of("README.md");
  for (const std::string& file : documents_with_commands()) {
    if (file == "README.md") continue;
    EXPECT_NE(std::string::npos, readme.find("](" + file + ")")) << file;
  }
}

TEST(Architecture, NamesEveryRoom) {
  static const std::regex kRow("\\{\"[a-z_]+/([a-z_/]+)\", *\\n? *\\{");
  const std::string rules = text_of("tests/style/include_rules.cpp");
  const std::string page = text_of("docs/architecture.md");
  std::size_t rooms = 0;
  for (std::sregex_iterator row(rules.begin(), rules.end(), kRow), end; row != end; ++row) {
    const std::string folder = row->str().substr(2, row->str().rfind('"') - 2);
    if (!std::filesystem::exists(source_path(folder))) continue;
    ++rooms;
    EXPECT_NE(std::string::npos, page.find("`" + (*row)[1].str() + "`")) << folder;
  }
  EXPECT_LT(20U, rooms);
}

TEST(Readme, HasEveryScenario) {
  const std::string readme = text_of("README.md");
  for (const auto& entry : std::filesystem::directory_iterator(source_path("scenarios"))) {
    if (entry.path().extension() != ".lua") continue;
    const std::string name = "`" + entry.path().stem().string() + "`";
    EXPECT_NE(std::string::npos, readme.find(name)) << name;
  }
}

}  // namespace
}  // namespace ohm::docs
