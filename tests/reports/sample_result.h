// A small result with one of everything, for the goldens of the report formats.
#pragma once

#include "reports/model/run_result.h"

namespace ohm::test {

inline constexpr const char* kSampleFile = "scenarios/leaked_loss_graph.lua";

inline DeviceResult sample_device(int index, std::int64_t peak_bytes) {
  DeviceResult device;
  device.device = "cuda:" + std::to_string(index);
  device.profile = "tiny-64m";
  device.rules = "pytorch-2.6";
  device.capacity_bytes = 67'108'864;
  device.peak_allocated_bytes = peak_bytes;
  device.peak_reserved_bytes = 62'914'560;
  device.num_device_alloc = 4;
  device.peak_by_category[static_cast<std::size_t>(Category::activation)] = peak_bytes;
  return device;
}

inline LimitResult sample_limit(std::string text, Unit unit, double measured, bool holds) {
  return {std::move(text), unit, measured, 0.0, holds, {}};
}

inline OomResult sample_oom() {
  OomResult oom;
  oom.step = 26;
  oom.device = "cuda:0";
  oom.requested_bytes = 262'144;
  oom.segment_bytes = 20'971'520;
  oom.category = Category::activation;
  oom.op = "linear";
  oom.file = kSampleFile;
  oom.line = 8;
  oom.message =
      "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 64.00 MiB of "
      "which 4.00 MiB is free. Of the allocated memory 58.63 MiB is allocated by PyTorch, and 1.37 "
      "MiB is reserved by PyTorch but unallocated.";
  oom.alive_by_category[static_cast<std::size_t>(Category::activation)] = 58'982'400;
  oom.alive_by_category[static_cast<std::size_t>(Category::parameter)] = 2'101'248;
  oom.alive_by_category[static_cast<std::size_t>(Category::input)] = 65'536;
  oom.holders = {{52'428'800, 25, Category::activation, "linear", kSampleFile, 8},
                 {6'553'600, 25, Category::activation, "relu", kSampleFile, 8},
                 {2'101'248, 2, Category::parameter, "", kSampleFile, 4}};
  oom.other_holders = 3;
  return oom;
}

inline VariantResult sample_variant(std::string name, Role role, Verdict verdict,
                                    std::int64_t peak_bytes, std::string reason) {
  VariantResult variant;
  variant.name = std::move(name);
  variant.role = role;
  variant.line = 20;
  if (role != Role::problem) variant.of = "validation";
  variant.verdict = verdict;
  variant.outcome = Outcome::completed;
  variant.reason = std::move(reason);
  variant.steps = 50;
  variant.devices = {sample_device(0, peak_bytes)};
  variant.host = HostResult{262'144, 65'536, 131'072, 0};
  variant.rerun = std::string("ohm run ") + kSampleFile + " --case " + variant.name;
  return variant;
}

/// Four blocks on one segment; the third is freed and the fourth takes its place.
inline MemoryHistory sample_history() {
  MemoryHistory history;
  history.events = 6;
  history.steps = {2, 5};
  history.oom_event = 5;
  history.sites = {{kSampleFile, 4, "", "", 0}, {kSampleFile, 8, "linear", "", 0}};
  DeviceMemoryHistory device;
  device.device = "cuda:0";
  device.allocated_high = {0, 512, 1024, 1536, 1024, 1536};
  device.allocated_low = device.allocated_high;
  device.reserved_high = {2'097'152, 2'097'152, 2'097'152, 2'097'152, 2'097'152, 2'097'152};
  device.by_category[0] = {0, 512, 512, 512, 512, 512};
  device.by_category[3] = {0, 0, 512, 1024, 512, 1024};
  device.peak_event = 3;
  device.ranges = {{0, 0x7f0000000000, 2'097'152}};
  device.segments = {{0, 6, 0, 2'097'152}};
  device.blocks = {{1, 6, 0, 512, 0, Category::parameter},
                   {2, 6, 512, 512, 1, Category::activation},
                   {3, 4, 1024, 512, 1, Category::activation},
                   {5, 6, 1024, 512, 1, Category::activation}};
  history.devices = {device};
  return history;
}

inline ScenarioResult sample_scenario() {
  ScenarioResult scenario;
  scenario.name = "leaked_loss_graph";
  scenario.summary = "Summing loss tensors keeps every step's graph alive";
  scenario.file = kSampleFile;
  scenario.verdict = Verdict::failed;

  VariantResult problem = sample_variant("validation", Role::problem, Verdict::passed, 61'149'184,
                                         "OOM in step 26: 256.00 KiB for linear");
  problem.outcome = Outcome::oom;
  problem.steps = 25;
  problem.devices[0].num_ooms = 1;
  problem.oom = sample_oom();
  problem.limits = {sample_limit("growth_bytes_per_step == 0", Unit::bytes, 2'359'296, false),
                    sample_limit("num_ooms == 0", Unit::count, 1, false)};

  problem.devices[0].peak =
      PeakResult{11,
                 25,
                 {{52'428'800, 25, Category::activation, "linear", kSampleFile, 8,
                   "local out = model(x) -- <b>&amp;"},
                  {8'720'384, 27, Category::parameter, "", kSampleFile, 4, "local model = net()"}}};
  problem.devices[0].peak_by_category = {8'720'384, 0, 0, 52'428'800, 0, 0, 0};
  problem.history = sample_history();
  problem.retention =
      RetentionResult{"cuda:0",
                      61'149'184,
                      1'048'576,
                      {{"total",
                        "validate",
                        9,
                        52'428'800,
                        52'428'800,
                        25,
                        {"total", "grad_fn AddBackward0", "saved result of relu"}},
                       {"model", "validate", 9, 7'671'808, 7'671'808, 27, {"model", "0.weight"}}}};
  scenario.source = {"local nn = ohm.nn", "-- <script>alert(1)</script>", "local model = net()"};

  VariantResult item =
      sample_variant("item", Role::mitigation, Verdict::passed, 2'494'464, "both limits hold");
  item.equivalence = Equivalence::same;
  item.reference = "validation";
  item.limits = {sample_limit("growth_bytes_per_step == 0", Unit::bytes, 0, true),
                 sample_limit("num_ooms == 0", Unit::count, 0, true)};

  VariantResult wrong =
      sample_variant("half_the_steps", Role::mitigation, Verdict::failed, 2'494'464,
                     "other numbers: total: 57.5 instead of 115; float32 allows "
                     "0.012");
  wrong.failure_type = FailureType::not_equivalent;
  wrong.equivalence = Equivalence::different;
  wrong.difference = "total: 57.5 instead of 115; float32 allows 0.012";
  wrong.reference = "validation";
  wrong.limits = item.limits;

  VariantResult partial = sample_variant("shorter", Role::partial, Verdict::passed, 30'574'592,
                                         "recovers 51.2 % of peak_allocated_bytes < 2 MiB (29.16 "
                                         "MiB instead of 58.32 MiB)");
  partial.comparison = "must agree: steps";
  partial.recovered_share = 0.512;
  partial.trades = "batch size";
  partial.equivalence = Equivalence::trade;

  VariantResult broken = sample_variant("typo", Role::non_fix, Verdict::error, 0,
                                        "scenarios/leaked_loss_graph.lua:31: unknown op \"reluu\"");
  broken.outcome = Outcome::error;
  broken.error =
      ErrorResult{"scenarios/leaked_loss_graph.lua:31: unknown op \"reluu\"", kSampleFile, 31,
                  "scenarios/leaked_loss_graph.lua:31: in function 'typo'", "did you mean relu?"};
  broken.output = "step 1\nstep 2 \x1b[31m<&>\n";

  scenario.variants = {problem, item, wrong, partial, broken};
  scenario.references = {sample_variant("validation", Role::problem, Verdict::skipped, 120'324'096,
                                        "gives the values, on 1 × 1.00 GiB")};
  return scenario;
}

inline ScenarioResult sample_several_gpus() {
  ScenarioResult scenario;
  scenario.name = "unbalanced_data_parallel";
  scenario.summary = "GPU 0 gathers all outputs";
  scenario.file = "scenarios/unbalanced_data_parallel.lua";
  scenario.verdict = Verdict::passed;
  VariantResult problem = sample_variant("gathered", Role::problem, Verdict::passed, 25'165'824,
                                         "breaks imbalance <= 1.10: 2.4");
  problem.rerun = "ohm run scenarios/unbalanced_data_parallel.lua --case gathered";
  for (int gpu = 1; gpu < 4; ++gpu) problem.devices.push_back(sample_device(gpu, 10'485'760));
  problem.limits = {sample_limit("imbalance <= 1.10", Unit::ratio, 2.4, false)};
  problem.limits[0].bound = 1.10;
  scenario.variants = {problem};
  return scenario;
}

inline ScenarioResult sample_unloadable() {
  ScenarioResult scenario;
  scenario.name = "broken";
  scenario.file = "scenarios/broken.lua";
  scenario.verdict = Verdict::error;
  scenario.error = ErrorResult{"scenarios/broken.lua:3: '}' expected near 'local'",
                               "scenarios/broken.lua", 3, "", ""};
  return scenario;
}

inline RunResult sample_result() {
  return {ExitReason::script_error,
          {sample_scenario(), sample_several_gpus(), sample_unloadable()},
          std::nullopt,
          std::nullopt};
}

}  // namespace ohm::test
