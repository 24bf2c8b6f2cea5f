#include "harness/scenario/required_modules.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_folder.h"

namespace ohm::engine {
namespace {

using Paths = std::vector<std::string>;

TEST(RequiredModules, AreThoseThatAScriptAndItsModulesName) {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder.file("lib/models"));
  const std::string script = folder.write(
      "script.lua",
      "local a, b = require[[near]], require\n\t'models.net'\nrequire('absent') require(\"");
  const std::string near = folder.write("near.lua", "return require (\"near\")");
  folder.write("lib/near.lua", "return require('unused')");
  folder.write("unused.lua", "");
  const std::string bytes = folder.write("lib/bytes.lua", "return {}");
  const std::string net = folder.write("lib/models/net.lua", "requires_grad \"x\" require'bytes'");
  EXPECT_EQ(required_modules(script), (Paths{bytes, net, near}));
  EXPECT_EQ(required_modules(folder.file("absent.lua")), Paths());
}

TEST(RequiredModules, HaveNamesThatDoNotLeadUpwards) {
  for (const char* const name : {"", ".a", "a.", "..a", "a..b", "a/b", "/a", "a\\b", "a b"}) {
    EXPECT_FALSE(module_places("folder/script.lua", name)) << name;
  }
  const auto places = module_places("folder/script.lua", "models.resnet-50_v2");
  ASSERT_TRUE(places);
  EXPECT_EQ(places->front(), "folder/models/resnet-50_v2.lua");
  EXPECT_EQ(places->back(), "folder/lib/models/resnet-50_v2.lua");
  EXPECT_EQ(module_places("script.lua", "nets")->front(), "nets.lua");
}

}  // namespace
}  // namespace ohm::engine
