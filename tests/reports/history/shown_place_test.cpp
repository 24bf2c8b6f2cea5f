#include "reports/history/shown_place.h"

#include <gtest/gtest.h>

namespace ohm::reports {
namespace {

HistorySite of_module(const char* module) {
  HistorySite site;
  site.module = module;
  return site;
}

TEST(ShownPlace, LayersOfAListAreOne) {
  EXPECT_EQ(shown_place(of_module("GPT.blocks.0.mlp")),
            shown_place(of_module("GPT.blocks.11.mlp")));
  EXPECT_NE(shown_place(of_module("GPT.blocks.0.mlp")),
            shown_place(of_module("GPT.blocks.0.attn")));
  EXPECT_NE(shown_place(of_module("GPT.blocks.0")), shown_place(of_module("GPT.blocks.0.0")));
  EXPECT_NE(shown_place(of_module("")), shown_place(of_module("GPT")));
}

TEST(ShownPlace, WhatTheirModulesHaveInCommonIsNamed) {
  EXPECT_EQ("GPT.blocks.3.mlp.0", common_module("GPT.blocks.3.mlp.0", "GPT.blocks.3.mlp.0"));
  EXPECT_EQ("GPT.blocks.*.mlp.0", common_module("GPT.blocks.3.mlp.0", "GPT.blocks.4.mlp.0"));
  EXPECT_EQ("GPT.blocks.*.mlp.*", common_module("GPT.blocks.*.mlp.0", "GPT.blocks.4.mlp.2"));
  EXPECT_EQ("", common_module("", ""));
}

}  // namespace
}  // namespace ohm::reports
