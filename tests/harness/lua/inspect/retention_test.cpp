// Why memory is retained: from the variables of a script to what they keep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "allocator_shim/base/format_bytes.h"
#include "harness/lua/scenario_loader.h"
#include "harness/run/variant_process.h"

namespace ohm::lua {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

engine::MeasuredVariant run(const std::string& body, const std::string& capacity = "64MiB") {
  engine::LoadRequest request;
  request.path = "test.lua";
  request.source =
      "local nn = ohm.nn\nreturn ohm.scenario {name = 'test', summary = 's', limits = "
      "{'num_ooms == 0'}, problems = {a = function(device)\n" +
      body + "\nend}}\n";
  engine::MachineOptions options;
  options.gpu.capacity_bytes = parse_bytes(capacity);
  return engine::run_variant(load_scenario, request, "a", options, {}, Recording::history);
}

const RetainedResult* find(const RetentionResult& retention, const std::string& variable) {
  for (const RetainedResult& entry : retention.entries) {
    if (entry.variable == variable) return &entry;
  }
  return nullptr;
}

std::int64_t sum(const RetentionResult& retention) {
  std::int64_t bytes = retention.other_bytes;
  for (const RetainedResult& entry : retention.entries) bytes += entry.bytes;
  return bytes;
}

TEST(Retention, ASumOfLossesKeepsEveryGraph) {
  const engine::MeasuredVariant measured = run(R"(
    local total = 0
    local w = ohm.randn(256, 256, {device = device, requires_grad = true})
    for step = 1, 5 do
      total = total + ohm.relu(w * 2):sum()
    end
    local last = ohm.zeros(1024, 1024, {device = device}))");
  ASSERT_TRUE(measured.retention);
  const RetentionResult& retention = *measured.retention;
  EXPECT_EQ("cuda:0", retention.device);
  EXPECT_EQ(measured.devices[0].peak_allocated_bytes, retention.bytes);
  EXPECT_EQ(retention.bytes, sum(retention));
  const RetainedResult* total = find(retention, "total");
  ASSERT_NE(nullptr, total);
  // Five results of relu of 256 KiB, and the sum itself.
  EXPECT_EQ(5 * 262'144 + 512, total->bytes);
  EXPECT_EQ(total->bytes, total->own_bytes);
  EXPECT_EQ(262'144, find(retention, "w")->bytes);
  EXPECT_EQ(0, find(retention, "w")->own_bytes);  // the graphs need it too
  EXPECT_EQ(4'194'304, retention.other_bytes);    // on its way to "last"
  EXPECT_EQ("total", total->path.front());
  EXPECT_THAT(total->path.at(1), HasSubstr("grad_fn AddBackward"));
  EXPECT_THAT(total->path.back(), HasSubstr("saved by ReluBackward"));
}

// As in PyTorch, a view keeps its base, with the graph that the base hangs on.
TEST(Retention, AViewMadeInNoGradKeepsTheGraphOfItsBase) {
  const engine::MeasuredVariant measured = run(R"(
    local w = ohm.randn(256, 256, {device = device, requires_grad = true})
    local function logged()
      local out = ohm.relu(ohm.relu(w * 2) + 1)
      return ohm.no_grad(function() return out:t() end)
    end
    local view = logged()
    local last = ohm.zeros(1024, 1024, {device = device}))");
  const RetainedResult* view = find(*measured.retention, "view");
  ASSERT_NE(nullptr, view);
  EXPECT_EQ(2 * 262'144, view->bytes);  // the results of both
  const RetainedResult* w = find(*measured.retention, "w");
  EXPECT_EQ(0, w->own_bytes);
}

// What a write to a view needs is behind the node of its base.
TEST(Retention, FollowsWritesToViews) {
  const engine::MeasuredVariant measured = run(R"(
    local w = ohm.randn(256, 256, {device = device, requires_grad = true})
    local function written()
      local out = w * 2
      out:t():mul_(ohm.ones(256, 256, {device = device}))
      return out:sum()
    end
    local total = written()
    local last = ohm.zeros(1024, 1024, {device = device}))");
  const RetainedResult* total = find(*measured.retention, "total");
  ASSERT_NE(nullptr, total);
  EXPECT_EQ(262'144 + 512, total->bytes);
  EXPECT_THAT(total->path, Contains(HasSubstr("CopySlices")));
}

TEST(Retention, WhatSeveralVariablesReachBelongsToNoneAlone) {
  const engine::MeasuredVariant measured = run(R"(
    local first = ohm.zeros(1024, {device = device})
    local second = {copy = {first}}
    local last = ohm.zeros(1024, 1024, {device = device}))");
  const RetentionResult& retention = *measured.retention;
  const RetainedResult* first = find(retention, "first");
  ASSERT_NE(nullptr, first);
  EXPECT_EQ(4096, first->bytes);
  EXPECT_EQ(0, first->own_bytes);
  EXPECT_EQ(nullptr, find(retention, "second"));
  EXPECT_EQ(4'194'304, retention.other_bytes);  // on its way to "last"
}

TEST(Retention, NamesFieldsOfModulesTablesAndOptimizers) {
  const engine::MeasuredVariant measured = run(R"(
    local net = nn.Sequential(nn.Linear(256, 256)):to(device)
    local optimizer = ohm.optim.Adam(net:parameters(), {lr = 0.1})
    local x = ohm.ones(4, 256, {device = device})
    net(x):sum():backward()
    optimizer:step()
    local log = {inner = {ohm.zeros(300, 300, {device = device})}}
    local last = ohm.zeros(1024, 1024, {device = device}))");
  const RetentionResult& retention = *measured.retention;
  EXPECT_THAT(find(retention, "net")->path, ElementsAre("net.0.weight"));
  EXPECT_THAT(find(retention, "optimizer")->path, Contains(HasSubstr("optimizer.state[0].")));
  EXPECT_THAT(find(retention, "log")->path, ElementsAre("log.inner[1]"));
  EXPECT_EQ(retention.bytes, sum(retention));
}

TEST(Retention, IsReadWhenMemoryRunsOut) {
  const engine::MeasuredVariant measured = run(R"(
    local kept = {}
    for step = 1, 100 do
      kept[step] = ohm.zeros(1024, 1024, {device = device})
    end)",
                                               "32MiB");
  ASSERT_EQ(Outcome::oom, measured.outcome);
  const RetentionResult& retention = *measured.retention;
  EXPECT_EQ(measured.devices[0].peak_allocated_bytes, retention.bytes);
  EXPECT_EQ(retention.bytes, find(retention, "kept")->bytes);
  EXPECT_THAT(find(retention, "kept")->path, ElementsAre("kept[1]"));
}

TEST(Retention, ARunThatUsedNoGpuRetainsNothing) { EXPECT_FALSE(run("return {x = 1}").retention); }

}  // namespace
}  // namespace ohm::lua
