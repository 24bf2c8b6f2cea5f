// docs/surface.md: how many of PyTorch's public names a script finds in the runtime. The lists of
// names are tests/golden/pytorch/names, which tests/comparisons/public_names.py writes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/lua/bind/op_functions.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/bind/tensor_metatable.h"
#include "harness/lua/libraries/libraries.h"
#include "harness/lua/libraries/library_table.h"
#include "harness/lua/libraries/script_bindings.h"
#include "runtime/ops/op.h"
#include "tests/support/golden.h"

namespace ohm::test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

/// The names of one version, by where they are found: "torch.nn".
struct Version {
  std::string number;
  std::map<std::string, Names> namespaces;
};

Version read_version(const fs::path& path) {
  Version version{path.stem().string(), {}};
  std::istringstream lines(read_file(path.string()));
  Names* names = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    if (line.starts_with("== ")) {
      names = &version.namespaces[line.substr(3)];
      continue;
    }
    std::istringstream words(line);
    for (std::string word; words >> word;) names->insert(word);
  }
  return version;
}

// From the oldest on.
std::vector<Version> recorded_versions() {
  std::vector<Version> versions;
  for (const auto& entry : fs::directory_iterator(golden_path("pytorch/names"))) {
    versions.push_back(read_version(entry.path()));
  }
  const auto minor = [](const Version& version) { return std::stoi(version.number.substr(2)); };
  std::sort(versions.begin(), versions.end(),
            [&](const Version& a, const Version& b) { return minor(a) < minor(b); });
  return versions;
}

Names names_of_tensor() {
  Names names;
  for (const std::string& name : lua::op_names(ops::kMethod)) names.insert(name);
  for (const lua::TensorProperty& property : lua::tensor_properties()) {
    names.emplace(property.name);
  }
  for (const luaL_Reg& method :
       lua::script_bindings().find_class(lua::HandleOf<Tensor>::kClass)->methods) {
    names.emplace(method.name);
  }
  return names;
}

// What a script finds under `ohm` where Python has it under `torch`.
Names own_names(const std::string& space) {
  if (space == "torch.Tensor") return names_of_tensor();
  const std::string library = "ohm" + space.substr(std::string("torch").size());
  for (const lua::Library& known : lua::libraries()) {
    if (known.name != library) continue;
    const std::vector<std::string> names = lua::names_of(known);
    return {names.begin(), names.end()};
  }
  return {};
}

Names shared(const Names& theirs, const Names& own) {
  Names both;
  std::set_intersection(theirs.begin(), theirs.end(), own.begin(), own.end(),
                        std::inserter(both, both.end()));
  return both;
}

std::string table_of(const std::vector<Version>& versions) {
  std::string text = "| names in |";
  std::string rule = "|---|";
  for (const Version& version : versions) {
    text += fmt::format(" of {} |", version.number);
    rule += "---:|";
  }
  text += "\n" + rule + "\n";
  for (const auto& [space, names] : versions.back().namespaces) {
    text += fmt::format("| `{}` |", space);
    for (const Version& version : versions) {
      const Names& theirs = version.namespaces.at(space);
      text += fmt::format(" {}/{} |", shared(theirs, own_names(space)).size(), theirs.size());
    }
    text += "\n";
  }
  return text;
}

constexpr std::string_view kOpening =
    "# PyTorch's names in Lua\n\n"
    "How many of PyTorch's public names the runtime has; `torch.NAME` is `ohm.NAME` in Lua. `ohm "
    "new` writes\n"
    "`.ohm/ohm.lua`, which lists them for editors. Unknown arguments are rejected by name. "
    "PyTorch's lists are in\n"
    "`tests/golden/pytorch/names`; `tests/comparisons/public_names.py` updates them and this "
    "page.\n\n";

std::string document_of(const std::vector<Version>& versions) {
  return std::string(kOpening) + table_of(versions);
}

TEST(Surface, DocumentSaysWhatIsThere) {
  const std::vector<Version> versions = recorded_versions();
  ASSERT_FALSE(versions.empty());
  const std::string path = golden_path("../../docs/surface.md");
  const std::string document = document_of(versions);
  if (is_approval_asked_for()) {
    std::ofstream(path, std::ios::binary) << document;
    return;
  }
  EXPECT_EQ(read_file(path), document) << "tests/comparisons/public_names.py writes " << path;
}

}  // namespace
}  // namespace ohm::test
