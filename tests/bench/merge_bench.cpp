// What it takes to merge the reports of many shards, beside reading the same bytes as JSON alone.
//
// Each part is as large as one of the catalogue's sweep: 120 variants with 17 points each, and a
// failed fault in a thousand. merge_bench/merge/1000 has 10 million faults.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/json/merge.h"
#include "reports/json/sweep_json.h"

namespace ohm {
namespace {

constexpr std::int64_t kVariants = 120;
constexpr std::int64_t kPoints = 17;
constexpr std::int64_t kFaultsOfAPoint = 5;  // 10,200 of a shard

SweepPoint point(std::int64_t number) {
  SweepPoint point;
  point.point = fmt::format("ohm:{:08x}", number * 2654435761);
  point.level = "request";
  point.device = "cuda:0";
  point.op = "layer_norm";
  point.file = "scenarios/chapter/scenario.lua";
  point.line = static_cast<int>(number);
  for (int frame = 0; frame < 4; ++frame) {
    point.stack.push_back(fmt::format("scenarios/chapter/scenario.lua:{}", frame));
  }
  point.passes = kFaultsOfAPoint;
  point.faults = kFaultsOfAPoint;
  return point;
}

FailedFault failed(std::int64_t call) {
  FailedFault failed;
  failed.plan = fmt::format("ohm:5051eae5@{} -> from(1)", call);
  failed.verdict = FaultVerdict::swallowed;
  failed.what = "'total' is not what the fault-free run returns";
  failed.call = call;
  failed.rerun = "ohm run scenarios/chapter/scenario.lua --case kept --fault " + failed.plan;
  return failed;
}

SweptVariant variant(std::int64_t number) {
  SweptVariant variant;
  variant.name = fmt::format("variant_{}", number);
  variant.calls = 1000;
  variant.faults = kPoints * kFaultsOfAPoint;
  variant.verdicts[0] = variant.faults;
  for (std::int64_t i = 0; i < kPoints; ++i) variant.points.push_back(point(i));
  if (number % 12 == 0) variant.failed.push_back(failed(number));
  return variant;
}

/// The parts differ in nothing but their number, which is in one place of the text.
class Parts {
 public:
  explicit Parts(std::int64_t count) {
    SweepResult result;
    result.points = "all";
    result.form = "both";
    result.level = "request";
    result.shard = ShardResult{kNumber, count, {}, {{"seed", "0"}}, {{"a.lua", "11"}}};
    for (std::int64_t i = 0; i < kVariants; ++i) {
      SweptScenario scenario{fmt::format("scenario_{}", i), "scenario.lua", {}, {}};
      scenario.variants.push_back(variant(i));
      result.scenarios.push_back(scenario);
    }
    const std::string text = reports::sweep_json(result);
    const std::string number = std::to_string(kNumber);
    const std::size_t at = text.find(number);
    before_ = text.substr(0, at);
    after_ = text.substr(at + number.size());
    for (std::int64_t part = 1; part <= count; ++part) {
      parts_.push_back({fmt::format("{}.json", part),
                        [this, part] { return before_ + std::to_string(part) + after_; }});
    }
  }

  const std::vector<reports::ReportPart>& all() const { return parts_; }
  std::size_t bytes() const { return parts_.size() * (before_.size() + after_.size()); }

 private:
  static constexpr std::int64_t kNumber = 987654321;

  std::string before_;
  std::string after_;
  std::vector<reports::ReportPart> parts_;
};

void report(benchmark::State& state, const Parts& parts) {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  state.counters["peak_MiB"] = static_cast<double>(used.ru_maxrss) / 1024;
  state.counters["faults"] = static_cast<double>(state.range(0) * kVariants * kPoints) *
                             static_cast<double>(kFaultsOfAPoint);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(parts.bytes()));
}

void read(benchmark::State& state) {
  const Parts parts(state.range(0));
  for (auto iteration : state) {
    for (const reports::ReportPart& part : parts.all()) {
      benchmark::DoNotOptimize(nlohmann::json::parse(part.json()));
    }
  }
  report(state, parts);
}

void merge(benchmark::State& state) {
  const Parts parts(state.range(0));
  for (auto iteration : state) {
    benchmark::DoNotOptimize(reports::merged_reports(parts.all()));
  }
  report(state, parts);
}

BENCHMARK(read)->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(merge)->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ohm
