// Which cause is named, and which findings are dropped because other figures contradict them.
#include "reports/conclusion/result_conclusion.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/text.h"

namespace ohm::reports {
namespace {

constexpr std::int64_t kMebibyte = 1'048'576;

VariantResult out_of_memory(std::int64_t activation_bytes) {
  VariantResult variant;
  variant.devices.emplace_back().device = "cuda:0";
  OomResult& oom = variant.oom.emplace();
  oom.device = "cuda:0";
  oom.requested_bytes = 64 * kMebibyte;
  oom.reserved_bytes = activation_bytes + 8 * kMebibyte;
  oom.alive_by_category[static_cast<std::size_t>(Category::activation)] = activation_bytes;
  HolderResult& holder = oom.holders.emplace_back();
  holder.bytes = activation_bytes;
  holder.category = Category::activation;
  holder.file = "train.py";
  holder.line = 31;
  return variant;
}

FindingResult finding(const std::string& pitfall) {
  FindingResult one;
  one.pitfall = pitfall;
  one.scenario = "fragmentation";
  one.summary = "something is so";
  one.evidence.push_back({1, kMebibyte, 1, "linear", "train.py", 12});
  return one;
}

RetainedResult retained(const std::string& kind, std::int64_t bytes, std::int64_t graph_bytes) {
  RetainedResult entry;
  entry.variable = "losses";
  entry.function = "main";
  entry.file = "train.py";
  entry.line = 21;
  entry.kind = kind;
  entry.bytes = bytes;
  entry.graph_bytes = graph_bytes;
  entry.blocks = entry.tensors = entry.scalars = 40;
  return entry;
}

TEST(ResultConclusion, GrowthNamesTheVariableAndItsLine) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  variant.findings = {finding("growth per step")};
  variant.findings[0].summary = "grows by 12.00 MiB in each of 40 steps";
  RetentionResult& retention = variant.retention.emplace();
  retention.bytes = 512 * kMebibyte;
  retention.entries = {retained("list", 500 * kMebibyte, 499 * kMebibyte)};
  const auto made = conclusion_of(variant);
  ASSERT_TRUE(made);
  EXPECT_EQ("growth", made->cause);
  EXPECT_EQ("memory grows by 12.00 MiB in each of 40 steps: `losses` in main() keeps 40 graphs",
            made->what);
  EXPECT_EQ(21, made->line);
  EXPECT_EQ("append the number, .item(), in place of the tensor", made->remedy);
  EXPECT_FALSE(made->is_proved);
}

TEST(ResultConclusion, StepsOfOneBackwardPassAreNoLeak) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  variant.findings = {finding("growth per step")};
  RetentionResult& retention = variant.retention.emplace();
  retention.bytes = 512 * kMebibyte;
  retention.entries = {retained("unrolled", 500 * kMebibyte, 499 * kMebibyte)};
  const auto made = conclusion_of(variant);
  ASSERT_TRUE(made);
  EXPECT_EQ("full", made->cause);
  EXPECT_EQ(
      "memory is full: `losses` in main() holds 500.00 MiB for one backward pass through all steps "
      "of its loop",
      made->what);
  EXPECT_EQ(21, made->line);
  EXPECT_EQ(0U, made->remedy.find("use fewer steps between backward passes"));
  retention.entries[0].bytes = 100 * kMebibyte;
  EXPECT_EQ("growth", conclusion_of(variant)->cause) << "most of the memory is something else";
}

TEST(ResultConclusion, WhatAProgramLimitsDoesNotLeakWhileItFillsUp) {
  VariantResult variant;
  RetentionResult& retention = variant.retention.emplace();
  retention.bytes = 2 * kMebibyte;
  for (const char* const kind : {"filling", "unrolled"}) {
    retention.entries = {retained(kind, kMebibyte, 0)};
    variant.findings = {finding("growth per step")};
    reject_contradicted(variant);
    EXPECT_TRUE(variant.findings.empty()) << kind;
  }
  variant.findings = {finding("growth per step")};
  retention.entries[0].bytes = kMebibyte / 4;
  reject_contradicted(variant);
  EXPECT_EQ(1U, variant.findings.size()) << "something else grows";
}

TEST(ResultConclusion, ALimitThatIsTooHighIsLowered) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  RetentionResult& retention = variant.retention.emplace();
  retention.entries = {retained("filling", 500 * kMebibyte, 0)};
  const auto made = conclusion_of(variant);
  ASSERT_TRUE(made);
  EXPECT_EQ("kept", made->cause);
  EXPECT_EQ("lower its limit, or keep copies on the CPU (.cpu())", made->remedy);
}

TEST(ResultConclusion, CopiesThatChangeAreNotTheSameData) {
  VariantResult variant;
  variant.findings = {finding("the same data twice")};
  RetentionResult& retention = variant.retention.emplace();
  retention.entries = {retained("module", kMebibyte, 0)};
  reject_contradicted(variant);
  EXPECT_EQ(1U, variant.findings.size());
  retention.entries = {retained("updated", 2 * kMebibyte, 0)};
  reject_contradicted(variant);
  EXPECT_EQ(1U, variant.findings.size()) << "others change";
  retention.entries[0].bytes = kMebibyte;
  reject_contradicted(variant);
  EXPECT_TRUE(variant.findings.empty());
}

TEST(ResultConclusion, ReferenceCyclesAreBroken) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  RetentionResult& retention = variant.retention.emplace();
  retention.entries = {retained("cycle", 500 * kMebibyte, 0)};
  retention.entries[0].variable = "Batch.images";
  const auto made = conclusion_of(variant);
  ASSERT_TRUE(made);
  EXPECT_EQ("kept", made->cause);
  EXPECT_EQ(
      "reference cycles keep 500.00 MiB in 40 tensors (Batch.images) that no variable reaches",
      made->what);
  EXPECT_EQ(0U, made->remedy.find("break the reference cycle"));
}

TEST(ResultConclusion, WhatGrowsIsNotFragmented) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  variant.findings = {finding("growth per step"), finding("stranded split segments")};
  variant.findings[0].evidence[0].bytes = 400 * kMebibyte;
  variant.oom->reserved_bytes = 900 * kMebibyte;
  reject_contradicted(variant);
  ASSERT_EQ(1U, variant.findings.size());
  EXPECT_EQ("growth per step", variant.findings[0].pitfall);
}

TEST(ResultConclusion, GrowthIsNoCauseWhereTheRequestWouldFailWithoutIt) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  variant.findings = {finding("growth per step")};
  variant.findings[0].evidence[0].bytes = 400 * kMebibyte;
  variant.oom->requested_bytes = 1024 * kMebibyte;
  reject_contradicted(variant);
  EXPECT_EQ(1U, variant.findings.size()) << "evidence is of the largest lines alone";
  variant.oom->requested_bytes = 4096 * kMebibyte;
  reject_contradicted(variant);
  EXPECT_TRUE(variant.findings.empty());
}

TEST(ResultConclusion, WhatGrewAndIsGoneWhenMemoryRunsOutIsNoCause) {
  VariantResult variant = out_of_memory(48 * kMebibyte);
  variant.findings = {finding("growth per step")};
  variant.findings[0].evidence[0].bytes = 420 * kMebibyte;
  reject_contradicted(variant);
  EXPECT_TRUE(variant.findings.empty());
}

TEST(ResultConclusion, ExpandableSegmentsAndAnEmptyCacheAreNotFragmented) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  variant.findings = {finding("stranded split segments")};
  reject_contradicted(variant);
  EXPECT_TRUE(variant.findings.empty()) << "8 MiB are free and 64 MiB were requested";
  variant.findings = {finding("stranded split segments")};
  variant.oom->reserved_bytes = 900 * kMebibyte;
  variant.oom->expandable_segments = true;
  reject_contradicted(variant);
  EXPECT_TRUE(variant.findings.empty());
  variant.findings = {finding("stranded split segments")};
  variant.oom->expandable_segments = false;
  reject_contradicted(variant);
  EXPECT_EQ(1U, variant.findings.size());
}

TEST(ResultConclusion, AListOfAModelsCallIsNotKept) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  RetentionResult& retention = variant.retention.emplace();
  retention.bytes = 512 * kMebibyte;
  retention.entries = {retained("list", 500 * kMebibyte, 0)};
  EXPECT_EQ("kept", conclusion_of(variant)->cause);
  retention.entries[0].is_in_model = true;
  EXPECT_EQ("full", conclusion_of(variant)->cause);
  EXPECT_EQ(31, conclusion_of(variant)->line);
}

TEST(ResultConclusion, AListIsNotWhatFillsACacheThatIsLarger) {
  VariantResult variant = out_of_memory(216 * kMebibyte);
  variant.oom->reserved_bytes = 480 * kMebibyte;
  variant.findings = {finding("stranded split segments")};
  RetentionResult& retention = variant.retention.emplace();
  retention.entries = {retained("list", 216 * kMebibyte, 0)};
  reject_contradicted(variant);
  EXPECT_EQ("fragmented", conclusion_of(variant)->cause);
  variant.oom->reserved_bytes = 400 * kMebibyte;
  EXPECT_EQ("kept", conclusion_of(variant)->cause);
}

/// Requests of train.py:21 that get larger.
MemoryHistory growing_history() {
  MemoryHistory history;
  HistorySite& site = history.sites.emplace_back();
  site.file = "train.py";
  site.line = 21;
  DeviceMemoryHistory& device = history.devices.emplace_back();
  for (std::uint32_t i = 0; i < 16; ++i) {
    HistoryBlock& block = device.blocks.emplace_back();
    block.begin = i;
    block.bytes = static_cast<std::uint64_t>(kMebibyte) * (i + 1);
  }
  return history;
}

TEST(ResultConclusion, ACacheThatIsConcatenatedGrowsAndIsNotFragmented) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  variant.oom->reserved_bytes = 900 * kMebibyte;
  variant.findings = {finding("stranded split segments")};
  RetentionResult& retention = variant.retention.emplace();
  retention.bytes = 512 * kMebibyte;
  retention.entries = {retained("tensor", 150 * kMebibyte, 0),
                       retained("tensor", 140 * kMebibyte, 0)};
  EXPECT_EQ("fragmented", conclusion_of(variant)->cause) << "of what holds them nothing is known";
  for (RetainedResult& one : retention.entries) one.is_concatenated = true;
  EXPECT_EQ("fragmented", conclusion_of(variant)->cause) << "it may have been concatenated once";
  variant.history = growing_history();
  const auto made = conclusion_of(variant);
  EXPECT_EQ("growth", made->cause);
  EXPECT_EQ("`losses` in main() gets longer with each concatenation, to 150.00 MiB in 40 tensors",
            made->what);
  EXPECT_EQ(21, made->line);
  reject_contradicted(variant);
  EXPECT_TRUE(variant.findings.empty());
  variant.findings = {finding("stranded split segments")};
  retention.entries[1].is_in_model = true;
  EXPECT_EQ("fragmented", conclusion_of(variant)->cause) << "a layer that concatenates";
}

TEST(ResultConclusion, WhatIsComputedWithAllOfAQueueGrowsWithIt) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  RetentionResult& retention = variant.retention.emplace();
  retention.entries = {retained("tensor", 40 * kMebibyte, 0)};
  retention.entries[0].is_concatenated = true;
  MemoryHistory& history = variant.history.emplace(growing_history());
  history.events = 20;
  history.oom_event = 18;
  history.sites.emplace_back().line = 31;
  EXPECT_EQ("full", conclusion_of(variant)->cause) << "of a batch, as far as is known";
  for (std::uint32_t i = 0; i < 16; ++i) {
    HistoryBlock& logits = history.devices[0].blocks.emplace_back();
    logits.site = 1;
    logits.begin = i;
    logits.end = i < 15 ? i + 1 : history.events;
    logits.bytes = 20 * static_cast<std::uint64_t>(kMebibyte) * (i + 1);
  }
  EXPECT_EQ("full", conclusion_of(variant)->cause) << "nothing may be computed with it";
  retention.entries[0].kind = "buffer";
  EXPECT_EQ("growth", conclusion_of(variant)->cause);
  EXPECT_EQ(21, conclusion_of(variant)->line);
  for (HistoryBlock& block : history.devices[0].blocks) {
    if (block.site == 1) block.bytes = 320 * static_cast<std::uint64_t>(kMebibyte);
  }
  EXPECT_EQ("full", conclusion_of(variant)->cause) << "the batch is as large in each step";
}

TEST(ResultConclusion, WhatGrowsIsTheContainerAndNotWhatAStepWorksOn) {
  VariantResult variant;
  variant.findings = {finding("growth per step")};
  variant.findings[0].evidence[0].bytes = 90 * kMebibyte;
  RetentionResult& retention = variant.retention.emplace();
  retention.entries = {retained("tensor", 900 * kMebibyte, 0),
                       retained("list", 100 * kMebibyte, 0)};
  retention.entries[0].variable = "logits";
  retention.entries[0].line = 12;
  EXPECT_EQ(21, conclusion_of(variant)->line);
  retention.entries[1].bytes = 10 * kMebibyte;
  EXPECT_EQ(12, conclusion_of(variant)->line) << "the list is too small for it";
}

TEST(ResultConclusion, TheLastResultIsNotWhatKeepsTheGraphs) {
  VariantResult variant;
  variant.findings = {finding("growth per step")};
  RetentionResult& retention = variant.retention.emplace();
  retention.entries = {retained("result", 500 * kMebibyte, 499 * kMebibyte)};
  retention.entries[0].tensors = retention.entries[0].scalars = 1;
  EXPECT_EQ(
      "drop or detach it at the end of each step, and what else leads to the same graph (a state "
      "that a module or an object keeps)",
      conclusion_of(variant)->remedy);
  retention.entries[0].kind = "tensor";
  EXPECT_EQ("add the number, .item(), in place of the tensor", conclusion_of(variant)->remedy)
      << "a sum";
}

TEST(ResultConclusion, ModelsBesideTheOneThatIsTrainedAreKept) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  RetentionResult& retention = variant.retention.emplace();
  retention.entries = {retained("module", 400 * kMebibyte, 0)};
  EXPECT_EQ("full", conclusion_of(variant)->cause) << "it is trained";
  retention.entries[0].kind = "models";
  const auto made = conclusion_of(variant);
  EXPECT_EQ("kept", made->cause);
  EXPECT_EQ(21, made->line);
  EXPECT_EQ("move them to the CPU and drop their optimizers, or keep only the best one",
            made->remedy);
}

TEST(ResultConclusion, ACacheIsKeptThoughTheNextOneIsMadeBesideIt) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  RetentionResult& retention = variant.retention.emplace();
  retention.entries = {retained("state", 200 * kMebibyte, 0), retained("list", 190 * kMebibyte, 0)};
  EXPECT_EQ("full", conclusion_of(variant)->cause) << "of the rest nothing is known";
  retention.entries[1].is_in_model = true;
  const auto made = conclusion_of(variant);
  EXPECT_EQ("kept", made->cause);
  EXPECT_EQ(21, made->line);
  EXPECT_EQ("limit its length (a bounded or static cache), or drop it where a sequence ends",
            made->remedy);
  retention.entries[0].kind = "list";
  EXPECT_EQ("full", conclusion_of(variant)->cause) << "a batch that a model works on";
}

TEST(ResultConclusion, WhatIsOnlyCollectedGrowsAlsoWhereMemoryLasts) {
  VariantResult variant;
  variant.devices.emplace_back().peak_allocated_bytes = 200 * kMebibyte;
  variant.history = growing_history();
  RetentionResult& retention = variant.retention.emplace();
  retention.bytes = 150 * kMebibyte;
  retention.entries = {retained("tensor", 100 * kMebibyte, 0)};
  retention.entries[0].is_concatenated = true;
  EXPECT_FALSE(conclusion_of(variant))
      << "attention may read it: a cache of keys grows as it should";
  retention.entries[0].kind = "concatenation";
  const auto made = conclusion_of(variant);
  ASSERT_TRUE(made);
  EXPECT_EQ("growth", made->cause);
  EXPECT_EQ(21, made->line);
  variant.devices[0].peak_allocated_bytes = 500 * kMebibyte;
  EXPECT_FALSE(conclusion_of(variant)) << "a small part of what the program needs";
}

TEST(ResultConclusion, FreePiecesThatTheRecordDoesNotFindStrandedAreNoCause) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  variant.oom->reserved_bytes = 900 * kMebibyte;
  EXPECT_EQ("fragmented", conclusion_of(variant)->cause) << "the message is all that is known";
  variant.history = growing_history();
  EXPECT_EQ("full", conclusion_of(variant)->cause);
  variant.findings = {finding("stranded split segments")};
  EXPECT_EQ("fragmented", conclusion_of(variant)->cause);
}

TEST(ResultConclusion, AnEvaluationWithGradientsNamesTheCall) {
  VariantResult variant = out_of_memory(512 * kMebibyte);
  ModelCallResult& call = variant.retention.emplace().call.emplace();
  call.file = "valid.py";
  call.line = 28;
  call.function = "validate";
  call.is_training = false;
  call.trains = false;
  EXPECT_EQ("without no_grad", conclusion_of(variant)->cause);
  EXPECT_EQ(28, conclusion_of(variant)->line);
  call.trains = true;
  EXPECT_EQ("full", conclusion_of(variant)->cause);
}

TEST(ResultConclusion, PrivatePoolsOfTheMessageComeBeforeTensors) {
  VariantResult variant = out_of_memory(44 * kMebibyte);
  variant.oom->message =
      "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 3.00 GiB of "
      "which 2.00 MiB is free. Including non-PyTorch memory, this process has 3.00 GiB memory in "
      "use. Of the allocated memory 2.54 GiB is allocated by PyTorch, with 2.50 GiB allocated in "
      "private pools (e.g., CUDA Graphs), and 16.00 MiB is reserved by PyTorch but unallocated.";
  take_card_figures(*variant.oom);
  EXPECT_GT(variant.oom->private_pool_bytes, 2500 * kMebibyte);
  EXPECT_EQ("private pools", conclusion_of(variant)->cause);
}

TEST(ResultConclusion, AnInjectedErrorHasNoCause) {
  VariantResult variant = out_of_memory(44 * kMebibyte);
  variant.oom->injected = true;
  EXPECT_FALSE(conclusion_of(variant));
}

}  // namespace
}  // namespace ohm::reports
