#include "reports/console/console_breakdown.h"

#include <gtest/gtest.h>

#include <string>

namespace ohm::reports {
namespace {

HolderResult holder(const std::string& library, const std::string& module) {
  HolderResult holder;
  holder.bytes = 2 << 20;
  holder.count = 2;
  holder.category = Category::activation;
  holder.op = "silu";
  holder.file = "train.py";
  holder.line = 12;
  holder.library = library;
  holder.module = module;
  return holder;
}

constexpr const char* kHead = "      activation          2.00 MiB      2 × silu  train.py:12";

TEST(HolderRows, WhatIsBehindALineStandsBesideItWhereItHasRoom) {
  EXPECT_EQ(std::string(kHead) + "\n", holder_rows({holder("", "")}, 100));
  EXPECT_EQ(std::string(kHead) + " (mlp.py:43 forward, ViT.mlp)\n",
            holder_rows({holder("timm/layers/mlp.py:43 forward", "ViT.mlp")}, 100));
  EXPECT_EQ(std::string(kHead) + " (ViT.mlp)\n", holder_rows({holder("", "ViT.mlp")}, 100));
}

TEST(HolderRows, ElseBelowItOnAsManyLinesAsItTakes) {
  const std::string below(36, ' ');
  const std::string line = "modeling_llama.py:190 forward";
  EXPECT_EQ(std::string(kHead) + "\n" + below + line + ", LlamaForCausalLM.lm_head\n",
            holder_rows({holder("transformers/" + line, "LlamaForCausalLM.lm_head")}, 100));
  EXPECT_EQ(
      std::string(kHead) + "\n" + below + line + "\n" + below +
          "LlamaForCausalLM.model.layers.*.mlp.gate_proj\n",
      holder_rows({holder("transformers/" + line, "LlamaForCausalLM.model.layers.*.mlp.gate_proj")},
                  100));
}

}  // namespace
}  // namespace ohm::reports
