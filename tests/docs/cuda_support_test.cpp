// docs/cuda-support.md: the support level of each entry point of CUDA, written from the rows of
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
    "with the library's code for\nwhat it does not support, and is named on stderr unless the "
    "program only tries it; `ohm exec --allow-missing` continues\npast it. Every other "
    "entry point of the runtime, the driver, cuBLAS, cuDNN, cuFFT and cuRAND of CUDA 13 is there "
    "for\nprograms that link to it, and rejected. The page is generated from `entry_points.def` in "
    "`allocator_shim/interpose`.\n";

/// Names in code spans, in lines of at most 110 columns.
std::string wrapped(std::string_view heading, const std::vector<std::string_view>& names) {
  constexpr std::size_t kColumns = 110;
  std::string text;
  std::string line(heading);
  for (const std::string_view name : names) {
    const std::string span = fmt::format("`{}`", name);
    if (line.size() + 1 + span.size() > kColumns) {
      text += line + "\n";
      line.clear();
    }
    line += line.empty() ? span : " " + span;
  }
  return text + line + "\n";
}

std::string section(std::string_view library,
                    const std::map<std::string_view, std::vector<std::string_view>>& by_support) {
  std::string text = fmt::format("\n## {}\n", library);
  const auto add = [&](std::string_view support, const std::string& heading) {
    const auto found = by_support.find(support);
    if (found != by_support.end()) text += "\n" + wrapped(heading, found->second);
  };
  add("supported", "Supported:");
  for (const Limit& limit : kLimits) add(limit.name, fmt::format("Partial: {}:", limit.sentence));
  add("rejected", "Rejected:");
  return text;
}

std::string page() {
  std::vector<std::string_view> libraries;
  std::map<std::string_view, std::map<std::string_view, std::vector<std::string_view>>> rows;
  for (const Row& row : kRows) {
    if (row.behaviour.starts_with("Absent")) continue;
    if (!rows.contains(row.library)) libraries.push_back(row.library);
    rows[row.library][row.support].push_back(row.name);
  }
  std::string text(kOpening);
  for (const std::string_view library : libraries) text += section(library, rows.at(library));
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
