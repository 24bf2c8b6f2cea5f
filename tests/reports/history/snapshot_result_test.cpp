// Snapshots as results: recorded ones, and small ones whose beginning is not in their history.
#include "reports/history/snapshot_result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/reports/history/torch_files.h"
#include "tests/support/golden.h"

namespace ohm::reports {
namespace {

constexpr std::uint64_t kSegment = 2'097'152;

TraceEntry entry(EventAction action, std::uint64_t address, std::uint64_t bytes) {
  TraceEntry entry;
  entry.action = action;
  entry.address = address;
  entry.bytes = bytes;
  return entry;
}

/// One segment that was there before; a block of before is freed, one of 700 bytes is made.
Snapshot small_snapshot() {
  Snapshot snapshot;
  snapshot.details.emplace_back();
  SnapshotSegment segment;
  segment.address = kBase;
  segment.bytes = kSegment;
  segment.blocks = {
      {kBase, 1024, 1024, kNoStack, kNoText, BlockView::State::inactive},
      {kBase + 1024, 1024, 700, kNoStack, kNoText, BlockView::State::active_allocated},
      {kBase + 2048, kSegment - 2048, 0, kNoStack, kNoText, BlockView::State::inactive}};
  snapshot.segments = {segment};
  snapshot.device_traces = {{entry(EventAction::alloc, kBase + 1024, 700),
                             entry(EventAction::free_requested, kBase, 1000),
                             entry(EventAction::free_completed, kBase, 1000)}};
  return snapshot;
}

/// Three steps of one event each, of which some recorder says something.
Snapshot stepped_snapshot(const std::string& note) {
  Snapshot snapshot = small_snapshot();
  const TextId end = snapshot.tables.intern("END");
  for (std::size_t i = 0; i < 3; ++i) {
    const auto time = static_cast<std::int64_t>(i + 1);
    snapshot.device_traces[0][i].time_us = time;
    snapshot.external_annotations.push_back({snapshot.tables.intern("train_step"), end, 0, time});
  }
  if (!note.empty()) {
    snapshot.external_annotations.push_back({snapshot.tables.intern(note), end, 0, 1});
  }
  return snapshot;
}

TEST(SnapshotResult, SaysThatEarlierEventsWereNotKept) {
  const auto variant_of = [](const std::string& note) {
    return snapshot_result(stepped_snapshot(note), "a.pickle").scenarios[0].variants.at(0);
  };
  EXPECT_EQ("3 events, 3 steps", variant_of("").reason);
  EXPECT_EQ(1, variant_of("").devices[0].peak->step);
  const VariantResult of_record = variant_of("ohm record dropped events");
  EXPECT_EQ(
      "the last 3 events, 3 steps; earlier ones were not kept, ohm record --max-entries "
      "keeps more",
      of_record.reason);
  EXPECT_EQ(0, of_record.devices[0].peak->step) << "nobody knows which one it is";
  EXPECT_EQ("the last 3 events, 3 steps; earlier ones were not kept, OHM_RECORD_EVENTS keeps more",
            variant_of("ohm exec dropped events").reason);
}

TEST(SnapshotResult, FindsWhatWasThereBeforeTheHistory) {
  const RunResult result = snapshot_result(small_snapshot(), "folder/small.pickle");
  ASSERT_EQ(1U, result.scenarios.size());
  EXPECT_EQ("small", result.scenarios[0].name);
  const VariantResult& variant = result.scenarios[0].variants.at(0);
  const DeviceResult& device = variant.devices.at(0);
  EXPECT_EQ(1024 + 1024, device.peak_allocated_bytes);
  EXPECT_EQ(1024, device.allocated_at_end_bytes);
  EXPECT_EQ(static_cast<std::int64_t>(kSegment), device.peak_reserved_bytes);
  EXPECT_EQ(4U, variant.history->events);
  EXPECT_EQ((std::vector<std::int64_t>{1024, 2048, 1024, 1024}),
            variant.history->devices[0].allocated_high);
}

/// A forward pass through layers, each of which keeps three blocks, called by a training loop. What
/// occurs once in each is not what each begins with.
Snapshot forward_pass(int layers) {
  Snapshot snapshot;
  snapshot.details.emplace_back();
  StackTable& tables = snapshot.tables;
  const auto frame = [&](const char* function, int line) {
    StackFrame frame;
    frame.name = tables.intern(function);
    frame.filename = tables.intern("train.py");
    frame.line = line;
    return tables.intern(frame);
  };
  std::vector<TraceEntry>& trace = snapshot.device_traces.emplace_back();
  std::uint64_t address = kBase;
  const auto allocate = [&](std::vector<FrameId> frames) {
    TraceEntry made = entry(EventAction::alloc, address, 1024);
    made.stack = tables.intern(frames);
    trace.push_back(made);
    address += 1024;
  };
  const FrameId loop = frame("train", 63);
  trace.push_back(entry(EventAction::segment_alloc, kBase, kSegment));
  for (int i = 0; i < layers; ++i) {
    for (int twice = 0; twice < 2; ++twice) {
      allocate({frame("attention", 31), frame("forward", 53), loop});
    }
    allocate({frame("mlp", 37), frame("forward", 53), loop});
  }
  for (int twice = 0; twice < 2; ++twice) allocate({frame("forward", 54), loop});
  return snapshot;
}

TEST(SnapshotResult, LayersAreNotSteps) {
  const RunResult result = snapshot_result(forward_pass(12), "forward.pickle");
  const VariantResult& variant = result.scenarios[0].variants.at(0);
  EXPECT_EQ(0, variant.steps);
  EXPECT_TRUE(variant.findings.empty());
}

/// A loop of a function's own, through layers or over data, after data has come.
TEST(SnapshotResult, PassesThatGetNoDataAndDoNotTrainAreNotSteps) {
  for (const bool gets_data : {false, true}) {
    Snapshot snapshot;
    snapshot.details.resize(2);
    snapshot.details[1].category = snapshot.tables.intern("input");
    std::vector<TraceEntry>& trace = snapshot.device_traces.emplace_back();
    trace.push_back(entry(EventAction::segment_alloc, kBase, kSegment));
    const auto allocate = [&](std::vector<std::pair<const char*, int>> calls, bool is_data) {
      std::vector<FrameId> frames;
      for (const auto& [function, line] : calls) {
        frames.push_back(snapshot.tables.intern(StackFrame{
            snapshot.tables.intern("train.py"), snapshot.tables.intern(function), line}));
      }
      TraceEntry made = entry(EventAction::alloc, kBase + 1024 * trace.size(), 1024);
      made.stack = snapshot.tables.intern(frames);
      made.detail = is_data ? 1 : 0;
      trace.push_back(made);
    };
    allocate({{"run", 60}}, true);
    for (int pass = 0; pass < 6; ++pass) {
      allocate({{"run", 70}}, gets_data);
      allocate({{"forward", 30}, {"_call_impl", 20}, {"run", 71}}, false);
    }
    const RunResult result = snapshot_result(snapshot, "x.pickle");
    EXPECT_EQ(gets_data, result.scenarios[0].variants[0].steps > 0);
  }
}

TEST(SnapshotResult, TellsWhatWasAliveWhenMemoryRanOut) {
  Snapshot snapshot = small_snapshot();
  // After the first allocation, before what was there earlier went.
  snapshot.device_traces[0].insert(snapshot.device_traces[0].begin() + 1,
                                   entry(EventAction::oom, 512, 1U << 20U));
  const RunResult result = snapshot_result(snapshot, "small.pickle");
  const VariantResult& variant = result.scenarios[0].variants.at(0);
  ASSERT_TRUE(variant.oom.has_value());
  EXPECT_EQ("cuda:0", variant.oom->device);
  EXPECT_EQ(1 << 20, variant.oom->requested_bytes);
  // What was there already, and what the record shows.
  ASSERT_EQ(2U, variant.oom->holders.size());
  for (const HolderResult& holder : variant.oom->holders) EXPECT_EQ(1024, holder.bytes);
  EXPECT_FALSE(variant.oom->injected);
}

TEST(SnapshotResult, UndoesSegmentsToTheirBeginning) {
  Snapshot snapshot = small_snapshot();
  snapshot.device_traces[0].push_back(
      entry(EventAction::segment_free, kBase + 16 * kSegment, kSegment));
  const RunResult result = snapshot_result(snapshot, "x.pickle");
  const DeviceMemoryHistory& history = result.scenarios[0].variants[0].history->devices[0];
  const auto both = static_cast<std::int64_t>(2 * kSegment);
  EXPECT_EQ((std::vector<std::int64_t>{both, both, both, both, both / 2}), history.reserved_high);
}

/// A loop of so many lines in train(), that a module is called in and a backward pass follows.
Snapshot training(std::uint64_t steps) {
  Snapshot snapshot;
  snapshot.details.emplace_back();
  StackTable& tables = snapshot.tables;
  const auto stack = [&](const char* function, int line) {
    std::vector<FrameId> frames;
    for (const auto& [name, at] : {std::pair(function, 5), std::pair("train", line)}) {
      StackFrame frame;
      frame.name = tables.intern(name);
      frame.filename = tables.intern("train.py");
      frame.line = at;
      frames.push_back(tables.intern(frame));
    }
    return tables.intern(frames);
  };
  std::vector<TraceEntry>& trace = snapshot.device_traces.emplace_back();
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t addresses[] = {kBase, kBase + 8192};
    trace.push_back(entry(EventAction::alloc, addresses[0], 4096));
    trace.back().stack = stack("forward", 31);
    trace.push_back(entry(EventAction::alloc, addresses[1], 4096));
    trace.back().stack = stack("backward", 32);
    for (const std::uint64_t address : addresses) {
      trace.push_back(entry(EventAction::free_requested, address, 4096));
      trace.push_back(entry(EventAction::free_completed, address, 4096));
    }
    trace.push_back(entry(EventAction::alloc, kBase + (step + 1) * kSegment, 512));
    trace.back().stack = stack("backward", 33);
  }
  return snapshot;
}

TEST(SnapshotResult, SaysInWhichStepThePeakIs) {
  const RunResult result = snapshot_result(training(6), "x.pickle");
  const VariantResult& variant = result.scenarios[0].variants[0];
  EXPECT_EQ(6, variant.steps);
  EXPECT_EQ(6, variant.devices[0].peak->step);
}

TEST(SnapshotResult, TwoPassesAreNoLoop) {
  const RunResult result = snapshot_result(training(2), "x.pickle");
  const VariantResult& variant = result.scenarios[0].variants[0];
  EXPECT_EQ(0, variant.steps);
  EXPECT_NE(std::string::npos, variant.reason.find("no steps were found: put torch.profiler"));
}

TEST(SnapshotResult, NothingIsJudged) {
  const RunResult result = snapshot_result(small_snapshot(), "small.pickle");
  EXPECT_EQ(Verdict::recorded, result.scenarios[0].verdict);
  EXPECT_EQ(Verdict::recorded, result.scenarios[0].variants[0].verdict);
}

TEST(SnapshotResult, RecordedSnapshotsAddUp) {
  for (const char* name : {"finetune", "linear_no_grad", "lm_forward_ctx128", "lm_forward_fp32",
                           "lm_inference_ctx128"}) {
    SCOPED_TRACE(name);
    const std::string path = test::recording_path(std::string("snapshots/") + name + ".pickle");
    const Snapshot snapshot = read_snapshot_file(path);
    const RunResult result = snapshot_result(snapshot, path);
    std::int64_t reserved = 0;
    std::int64_t allocated = 0;
    for (const SnapshotSegment& segment : snapshot.segments) {
      reserved += static_cast<std::int64_t>(segment.bytes);
      allocated += static_cast<std::int64_t>(segment.allocated_bytes);
    }
    std::int64_t reserved_at_end = 0;
    std::int64_t allocated_at_end = 0;
    const VariantResult& variant = result.scenarios[0].variants[0];
    for (std::size_t i = 0; i < variant.devices.size(); ++i) {
      const DeviceResult& device = variant.devices[i];
      reserved_at_end += variant.history->devices[i].reserved_high.back();
      allocated_at_end += device.allocated_at_end_bytes;
      std::int64_t held = 0;
      for (const HolderResult& holder : device.peak->holders) held += holder.bytes;
      EXPECT_EQ(device.peak_allocated_bytes, held);
    }
    EXPECT_EQ(reserved, reserved_at_end);
    EXPECT_EQ(allocated, allocated_at_end);
  }
}

TEST(SnapshotResult, RealRecordingsHaveNoFindings) {
  for (const char* name : {"finetune", "linear_no_grad", "lm_forward_ctx128", "lm_forward_fp32",
                           "lm_inference_ctx128"}) {
    SCOPED_TRACE(name);
    const std::string path = test::recording_path(std::string("snapshots/") + name + ".pickle");
    const RunResult result = snapshot_result(read_snapshot_file(path), path);
    const VariantResult& variant = result.scenarios[0].variants[0];
    for (const FindingResult& finding : variant.findings) ADD_FAILURE() << finding.what;
    const bool is_forward_loop = std::string_view(name) == "linear_no_grad";
    EXPECT_EQ(is_forward_loop ? 3 : 0, variant.steps);
  }
}

VariantResult recorded(const std::string& path) {
  RunResult result = snapshot_result(read_snapshot_file(path), path);
  return std::move(result.scenarios[0].variants[0]);
}

const HolderResult* row_of(const VariantResult& variant, const std::string& op,
                           const std::string& library, const std::string& module) {
  const std::vector<HolderResult>& rows = variant.devices[0].peak->holders;
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const HolderResult& one) {
    return one.op == op && one.library == library && one.module == module;
  });
  return row == rows.end() ? nullptr : &*row;
}

/// A model of a package, recorded by tests/recorded_jobs/llama.py: one line of the program's.
TEST(SnapshotResult, WhatSharesALineIsToldApartByTheLibrarysAndByItsModule) {
  const VariantResult variant = recorded(test::golden_path("recorded_modules/llama.pickle"));
  const std::string file = "transformers/models/llama/modeling_llama.py";
  const std::string layers = "LlamaForCausalLM.model.layers.*.";
  struct Row {
    std::string op;
    std::string library;
    std::string module;
    std::int64_t bytes;
  };
  // 16 · 64 tokens of 256 and 128 numbers, in two layers.
  const std::vector<Row> rows = {
      {"silu", file + ":190 forward", layers + "mlp.act_fn", 2 * 1'048'576},
      {"linear", file + ":190 forward", layers + "mlp.gate_proj", 2 * 1'048'576},
      {"linear", file + ":190 forward", layers + "mlp.up_proj", 2 * 1'048'576},
      {"linear", file + ":272 forward", layers + "self_attn.v_proj", 2 * 524'288},
  };
  for (const Row& row : rows) {
    const HolderResult* const found = row_of(variant, row.op, row.library, row.module);
    ASSERT_NE(nullptr, found) << row.module;
    EXPECT_EQ(row.bytes, found->bytes) << row.module;
    EXPECT_EQ(2, found->count) << row.module;
    EXPECT_EQ("/home/llama.py", found->file);
  }
  const std::vector<HistorySite>& sites = variant.history->sites;
  for (const char* const layer : {"LlamaForCausalLM.model.layers.0.mlp.act_fn",
                                  "LlamaForCausalLM.model.layers.1.mlp.act_fn"}) {
    EXPECT_TRUE(std::any_of(sites.begin(), sites.end(), [&](const HistorySite& site) {
      return site.module == layer;
    })) << layer;
  }
}

TEST(SnapshotResult, NoTwoRowsOfAPeakSayTheSame) {
  std::vector<std::string> paths = {test::golden_path("recorded_modules/llama.pickle")};
  for (const char* name : {"finetune", "linear_no_grad", "lm_forward_ctx128", "lm_forward_fp32",
                           "lm_inference_ctx128"}) {
    paths.push_back(test::recording_path(std::string("snapshots/") + name + ".pickle"));
  }
  for (const std::string& path : paths) {
    const VariantResult variant = recorded(path);
    for (const DeviceResult& device : variant.devices) {
      std::set<std::tuple<Category, std::string, std::string, int, std::string, std::string>> rows;
      for (const HolderResult& row : device.peak->holders) {
        EXPECT_TRUE(
            rows.emplace(row.category, row.op, row.file, row.line, row.library, row.module).second)
            << path << ": " << row.op << " " << row.file << ":" << row.line;
      }
    }
  }
}

/// Of names without folders: a package that is known is not the program's own.
TEST(SnapshotResult, WhatAKnownPackageDoesHasTheLineThatCalledIt) {
  const VariantResult variant = recorded(test::recording_path("snapshots/lm_forward_fp32.pickle"));
  const std::vector<HolderResult>& rows = variant.devices[0].peak->holders;
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const HolderResult& row) {
    return row.op == "einsum" && row.file == "multihead_attention.py";
  }));
  for (const HolderResult& row : rows) EXPECT_NE("einops.py", row.file);
}

}  // namespace
}  // namespace ohm::reports
