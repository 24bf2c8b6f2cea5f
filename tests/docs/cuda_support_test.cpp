// docs/cuda-support.md: the support levels of CUDA's entry points, written from the rows of
// allocator_shim/interpose/entry_points.def with OHM_APPROVE=1.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/docs/documents.h"
#include "tests/support/golden.h"

namespace ohm::docs {
namespace {

struct Limit {
  std::string_view name;
  std::string_view sentence;
};

struct Row {
  std::string_view library;
  std::string_view name;
  std::string_view support;
  std::string_view behaviour;  ///< a class of stub.h; empty: a function of its own
};

#define OHM_SONAME(...)
#define OHM_WRITTEN(...)
#define OHM_STUB(...)
#define OHM_LIMIT(name, sentence) Limit{#name, sentence},
constexpr Limit kLimits[] = {
#include "allocator_shim/interpose/entry_points.def"
};
#undef OHM_LIMIT
#undef OHM_STUB
#undef OHM_WRITTEN
#define OHM_LIMIT(...)
#define OHM_WRITTEN(library, name, cuda, support) Row{#library, #name, #support, ""},
#define OHM_STUB(library, name, cuda, support, ...) Row{#library, #name, #support, #__VA_ARGS__},
constexpr Row kRows[] = {
#include "allocator_shim/interpose/entry_points.def"
};
#undef OHM_STUB
#undef OHM_WRITTEN
#undef OHM_LIMIT
#undef OHM_SONAME

constexpr std::string_view kOpening =
    "# CUDA support\n\n"
    "The entry points of CUDA 12 and 13 that programs find on a virtual GPU. A rejected call fails "
    "with the library's code for\nan unsupported feature, and is named on stderr unless the "
    "program only probes for it; `ohm exec --allow-missing` continues\npast it. Every other entry "
    "point of the runtime, the driver and the mathematical libraries of CUDA 13 can be\nlinked "
    "to, and is rejected. `grep cudaMemcpyAsync allocator_shim/interpose/entry_points.def` shows "
    "the level of a\nfunction; this page is generated from that file.\n";

/// Levels with more entry points are counted by library, not listed.
constexpr std::size_t kMostListed = 15;

using Names = std::vector<std::string_view>;

/// Entry points by library, in the order of the rows, and by level.
struct Levels {
  std::vector<std::string_view> libraries;
  std::map<std::string_view, std::map<std::string_view, Names>> rows;

  Names names(std::string_view library, std::string_view level) const {
    const auto found = rows.at(library).find(level);
    return found == rows.at(library).end() ? Names{} : found->second;
  }
  Names names_of_all(std::string_view level) const {
    Names all;
    for (const std::string_view library : libraries) {
      const Names own = names(library, level);
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }
};

Levels read_levels() {
  Levels levels;
  for (const Row& row : kRows) {
    if (row.behaviour.starts_with("Absent")) continue;
    if (!levels.rows.contains(row.library)) levels.libraries.push_back(row.library);
    levels.rows[row.library][row.support].push_back(row.name);
  }
  return levels;
}

std::string table_of(const Levels& levels) {
  std::string text = "\n| library | supported | partial | rejected |\n|---|---:|---:|---:|\n";
  for (const std::string_view library : levels.libraries) {
    const std::size_t supported = levels.names(library, "supported").size();
    const std::size_t rejected = levels.names(library, "rejected").size();
    std::size_t all = 0;
    for (const auto& [level, names] : levels.rows.at(library)) all += names.size();
    text += fmt::format("| {} | {} | {} | {} |\n", library, supported, all - supported - rejected,
                        rejected);
  }
  return text;
}

/// Names in code spans, in lines of at most 110 columns.
std::string wrapped(std::string_view heading, const Names& names, std::string_view indent) {
  constexpr std::size_t kColumns = 110;
  std::string text;
  std::string line(heading);
  for (const std::string_view name : names) {
    const std::string span = fmt::format("`{}`", name);
    if (line.size() + 1 + span.size() > kColumns) {
      text += line + "\n";
      line = fmt::format("{}{}", indent, span);
    } else {
      line += " " + span;
    }
  }
  return text + line + "\n";
}

std::string counts_of(const Levels& levels, std::string_view level) {
  std::vector<std::string> counts;
  for (const std::string_view library : levels.libraries) {
    const std::size_t count = levels.names(library, level).size();
    if (count > 0) counts.push_back(fmt::format("{} of {}", count, library));
  }
  return fmt::format("{}", fmt::join(counts, ", "));
}

std::string page() {
  const Levels levels = read_levels();
  std::string text = std::string(kOpening) + table_of(levels);
  text += "\n## Partial support\n\nSuch an entry point\n\n";
  for (const Limit& limit : kLimits) {
    const Names names = levels.names_of_all(limit.name);
    const std::string heading = fmt::format("- {}:", limit.sentence);
    text += names.size() > kMostListed
                ? fmt::format("{} {}\n", heading, counts_of(levels, limit.name))
                : wrapped(heading, names, "  ");
  }
  text += "\n## Rejected\n";
  for (const std::string_view library : levels.libraries) {
    const Names names = levels.names(library, "rejected");
    if (!names.empty()) text += "\n" + wrapped(fmt::format("{}:", library), names, "");
  }
  return text;
}

TEST(CudaSupport, PageSaysWhatTheRowsSay) {
  const std::string path = source_path("docs/cuda-support.md");
  if (test::is_approval_asked_for()) {
    std::ofstream(path, std::ios::binary) << page();
    return;
  }
  EXPECT_EQ(test::read_file(path), page()) << "OHM_APPROVE=1 writes it";
}

TEST(CudaSupport, RowsNameLevelsThatExist) {
  std::set<std::string_view> levels = {"supported", "rejected"};
  for (const Limit& limit : kLimits) levels.insert(limit.name);
  for (const Row& row : kRows) EXPECT_TRUE(levels.contains(row.support)) << row.name;
}

TEST(CudaSupport, LevelsAreThoseOfTheBehaviour) {
  struct Rule {
    std::string_view behaviour;
    std::string_view support;
  };
  constexpr std::array kRules = {
      Rule{"Unsupported", "rejected"},      Rule{"Declines", "rejected"},
      Rule{"TakesNothing", "no_workspace"}, Rule{"Works", "not_computed"},
      Rule{"Solves", "not_solved"},         Rule{"NeedsNothing", "zero"},
      Rule{"SaysNothing", "no_error_text"}};
  for (const Row& row : kRows) {
    for (const Rule& rule : kRules) {
      if (!row.behaviour.starts_with(rule.behaviour)) continue;
      EXPECT_EQ(row.support, rule.support) << row.name;
    }
  }
}

}  // namespace
}  // namespace ohm::docs
