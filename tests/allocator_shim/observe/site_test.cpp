#include "allocator_shim/observe/site.h"

#include <gtest/gtest.h>

namespace ohm {
namespace {

TEST(SiteTable, GivesEqualSitesOneId) {
  SiteTable table;
  const SiteId first = table.intern("a.lua", 3, "relu");
  EXPECT_EQ(table.intern("a.lua", 3, "relu"), first);
  EXPECT_NE(table.intern("a.lua", 4, "relu"), first);
  EXPECT_NE(table.intern("a.lua", 3, "add"), first);
}

TEST(SiteTable, KeepsIdZeroForTheUnknownSite) {
  SiteTable table;
  EXPECT_EQ(table.at(kUnknownSite), Site{});
  EXPECT_NE(table.intern("a.lua", 1, ""), kUnknownSite);
}

}  // namespace
}  // namespace ohm
