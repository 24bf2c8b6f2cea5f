// What shards are worth: the time of a sweep by their number, from costs that are measured here.
//
//   shard_simulation OHM SVG FILES...
//
// Measured, in processor time: what the faults cost by the plan, the start of a shard, the
// beginning of a variant, a report's part of the merge; and with the distribution's Slurm, on this
// machine, how long it takes to submit an array and to run a task that does nothing. Simulated: as
// many idle machines of two cores as there are shards. What a controller takes to hand out
// thousands of tasks cannot be measured on one node, and is left out. A table goes to the standard
// output, the picture to SVG.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/lua/scenario_loader.h"
#include "harness/process/shell_quote.h"
#include "harness/process/stopwatch.h"
#include "harness/run/run_options.h"
#include "harness/sweep/cost_share.h"
#include "harness/sweep/sweep.h"
#include "tests/support/local_slurm.h"
#include "tests/support/temp_folder.h"

namespace ohm::engine {
namespace {

constexpr double kCores = 2;

/// In seconds.
struct Measured {
  double plan = 0;
  double start = 0;   ///< of a shard, until it has something to do
  double begin = 0;   ///< of a variant
  double submit = 0;  ///< of an array of up to 1,000 tasks
  double task = 0;    ///< of Slurm, to run one that does nothing: nodes do it side by side
  double merge = 0;   ///< of each report
  std::vector<std::vector<double>> faults;
};

double seconds_of(const std::function<void()>& work) {
  const Stopwatch stopwatch;
  work();
  return stopwatch.seconds();
}

/// Of all processes that have ended.
double processor_seconds() {
  rusage used = {};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double processor_seconds_of(const std::function<void()>& work) {
  const double before = processor_seconds();
  work();
  return processor_seconds() - before;
}

void run(const std::vector<std::string>& words) {
  const int status = std::system((shell_command(words) + " > /dev/null").c_str());
  // Bad verdicts (1) are what the faults are for.
  if (status != 0 && status != 256) throw std::runtime_error("failed: " + shell_command(words));
}

class Costs {
 public:
  Costs(std::string program, std::vector<std::string> files)
      : program_(std::move(program)), files_(std::move(files)) {}

  Measured measured() {
    Measured all;
    const auto plan = [&] { run(sweep({"--points", "all", "--write-plan", path("all")})); };
    all.plan = processor_seconds_of(plan) / kCores;
    run(sweep({"--points", "sample=1", "--write-plan", path("one")}));
    all.faults = faults();
    constexpr const char* kNothing = "99999/99999";
    all.start = processor_seconds_of([&] {
      run(sweep({"--points", "all", "--plan", path("all"), "--shard", kNothing, "-j", "2"}));
    });
    const double one_each = processor_seconds_of([&] {
      run(sweep({"--points", "sample=1", "--plan", path("one"), "-j", "1", "-q"}));
    });
    all.begin = std::max(0.0, one_each - all.start) / static_cast<double>(all.faults.size());
    all.merge = merge();
    measure_slurm(all);
    return all;
  }

 private:
  std::string path(const std::string& name) const { return folder_.file(name); }

  std::vector<std::string> sweep(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {program_, "sweep", "--size-only", "--form", "both"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), files_.begin(), files_.end());
    return words;
  }

  /// By this program's own plan: another one's is none of its.
  std::vector<std::vector<double>> faults() const {
    SweepOptions options;
    options.run.files = files_;
    options.run.size_only = true;
    options.run.jobs = static_cast<int>(kCores);
    options.run.selection.cases = {"mitigation", "control"};
    options.points = parse_point_choice("all");
    options.forms = {FaultForm::transient, FaultForm::persistent};
    const CheckpointedWork work = planned_work(options);
    {
      Checkpoint plan(path("own"), work);
      run_without_faults(options, lua::load_scenario, plan);
    }
    const Checkpoint plan(path("own"), work, CheckpointUse::reads);
    options.fault_free = &plan;
    return planned_costs(options, lua::load_scenario);
  }

  double merge() const {
    constexpr int kShards = 32;  // the first report is larger than the others
    std::vector<std::string> words = {program_, "merge", "-o", path("merged.json")};
    for (int shard = 1; shard <= kShards; ++shard) {
      words.push_back(path(fmt::format("{}.json", shard)));
      run(sweep({"--points", "sample=1", "--plan", path("one"), "-q", "--report",
                 "json=" + words.back(), "--shard", fmt::format("{}/{}", shard, kShards)}));
    }
    return processor_seconds_of([&] { run(words); }) / kShards;
  }

  void measure_slurm(Measured& all) const {
    constexpr int kTasks = 16;
    constexpr int kAtOnce = 2;  // what the node has processors for
    const std::string lack = test::LocalSlurm::lack();
    if (!lack.empty()) throw std::runtime_error(lack);
    const test::LocalSlurm slurm;
    const std::string sbatch = "sbatch --parsable --output=/dev/null ";
    const std::string nothing = " --wrap=true";
    all.submit = seconds_of([&] { slurm.output_of(sbatch + "--array=1" + nothing); });
    const double whole = seconds_of(
        [&] { slurm.output_of(sbatch + fmt::format("--wait --array=1-{}", kTasks) + nothing); });
    all.task = (whole - all.submit) * kAtOnce / kTasks;
  }

  std::string program_;
  std::vector<std::string> files_;
  test::TempFolder folder_;
};

struct Simulated {
  std::size_t shards = 0;
  double work = 0;    ///< of the faults, in the longest shard
  double begin = 0;   ///< of the same shard: it, and its variants
  double submit = 0;  ///< the plan, and until its task has begun
  double look = 0;    ///< until the launcher has seen the end
  double merge = 0;

  double seconds() const { return work + begin + submit + look + merge; }
};

/// Of the launcher, which looks less and less often.
double seconds_until_seen(double end) {
  double look = 0;
  for (double wait = 0.5; look < end; wait = std::min(15.0, 1.3 * wait)) look += wait;
  return look - end;
}

Simulated simulated(const Measured& costs, std::size_t shards) {
  Simulated longest;
  std::vector<double> of_variants;
  for (const std::vector<double>& faults : costs.faults) of_variants.push_back(cost_of(faults));
  for (std::size_t index = 0; index < shards; ++index) {
    const CostShare share(of_variants, {index, shards});
    Simulated one{shards, 0, costs.start, 0, 0, 0};
    for (std::size_t variant = 0; variant < costs.faults.size(); ++variant) {
      if (!share.has_part_of(variant)) continue;
      const std::vector<double>& faults = costs.faults[variant];
      const std::vector<bool> part = share.part_of(variant, faults);
      double work = 0;
      for (std::size_t i = 0; i < faults.size(); ++i) {
        if (part[i]) work += faults[i];
      }
      one.work += work / kCores;
      if (work > 0) one.begin += costs.begin / kCores;
    }
    const std::size_t arrays = index / 1000 + 1;
    one.submit = costs.plan + costs.submit * static_cast<double>(arrays) + costs.task;
    if (one.seconds() > longest.seconds()) longest = one;
  }
  longest.look = seconds_until_seen(longest.seconds() - costs.plan);
  longest.merge = costs.merge * static_cast<double>(shards);
  return longest;
}

double alone(const Measured& costs) {
  double work = 0;
  for (const std::vector<double>& variant : costs.faults) {
    work = std::accumulate(variant.begin(), variant.end(), work);
  }
  return costs.plan + work / kCores;
}

/// What takes the most beside the faults.
std::string reason(const Simulated& one) {
  const std::array<std::pair<double, const char*>, 4> parts = {{{one.begin, "beginning"},
                                                                {one.submit, "submitting"},
                                                                {one.look, "looking"},
                                                                {one.merge, "merging"}}};
  return std::max_element(parts.begin(), parts.end())->second;
}

std::string table(const Measured& costs, const std::vector<Simulated>& all) {
  std::string text = fmt::format(
      "measured: plan {:.2f} s, start {:.3f} s, a variant's beginning {:.4f} s, submission {:.3f} "
      "s, a task of Slurm's {:.3f} s, a report's merge {:.4f} s; {} variants; alone {:.1f} s\n\n"
      "shards  faults   begin  submit    look   merge   all s  speed-up  most beside the faults\n",
      costs.plan, costs.start, costs.begin, costs.submit, costs.task, costs.merge,
      costs.faults.size(), alone(costs));
  for (const Simulated& one : all) {
    text += fmt::format("{:6}{:8.2f}{:8.2f}{:8.2f}{:8.2f}{:8.2f}{:8.2f}{:10.1f}  {}\n", one.shards,
                        one.work, one.begin, one.submit, one.look, one.merge, one.seconds(),
                        alone(costs) / one.seconds(), reason(one));
  }
  return text;
}

// ---- the picture --------------------------------------------------------------------------------

constexpr double kLeft = 60;
constexpr double kBottom = 340;
constexpr double kOctave = 44;  ///< of the shards

double x_of(double shards) { return kLeft + kOctave * std::log2(shards); }
double y_of(double speed_up) { return kBottom - 24 * std::log2(std::max(0.5, speed_up)); }

std::string polyline(const std::vector<std::pair<double, double>>& points, const char* style) {
  std::string text = "<polyline fill=\"none\" " + std::string(style) + " points=\"";
  for (const auto& [shards, speed_up] : points) {
    text += fmt::format("{:.1f},{:.1f} ", x_of(shards), y_of(speed_up));
  }
  return text + "\"/>\n";
}

std::string label(double x, double y, const std::string& text, const char* anchor) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     text);
}

std::string picture(const Measured& costs, const std::vector<Simulated>& all) {
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 400\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"640\" height=\"400\" fill=\"white\"/>\n";
  for (double value = 1; value <= 4096; value *= 4) {
    svg += fmt::format(
        "<path d=\"M{0:.1f} {1} V{2} M{3} {4:.1f} H{5:.1f}\" stroke=\"#ddd\" fill=\"none\"/>\n",
        x_of(value), kBottom, y_of(4096), kLeft, y_of(value), x_of(4096));
    svg += label(x_of(value), kBottom + 18, fmt::format("{}", value), "middle");
    svg += label(kLeft - 8, y_of(value) + 4, fmt::format("{}", value), "end");
  }
  std::vector<std::pair<double, double>> ideal;
  std::vector<std::pair<double, double>> real;
  std::vector<std::pair<double, double>> without_merge;
  for (const Simulated& one : all) {
    const auto shards = static_cast<double>(one.shards);
    ideal.emplace_back(shards, shards);
    real.emplace_back(shards, alone(costs) / one.seconds());
    without_merge.emplace_back(shards, alone(costs) / (one.work + one.begin));
  }
  svg += polyline(ideal, "stroke=\"#999\" stroke-dasharray=\"4 4\"");
  svg += polyline(without_merge, "stroke=\"#2a7\" stroke-width=\"2\"");
  svg += polyline(real, "stroke=\"#24c\" stroke-width=\"2\"");
  svg += label(x_of(300), y_of(900), "as many times", "end");
  svg += label(x_of(4096), y_of(without_merge.back().second) - 8, "the longest shard", "end");
  const auto highest = std::max_element(
      real.begin(), real.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  svg +=
      label(x_of(highest->first), y_of(highest->second) - 8, "submitted, seen and merged", "start");
  svg += label(x_of(64), kBottom + 40, "shards, of two cores each", "middle");
  svg += label(kLeft - 8, y_of(4096) - 14, "speed-up", "start");
  return svg + "</svg>\n";
}

int simulate(const std::vector<std::string>& words) {
  if (words.size() < 3) throw std::runtime_error("usage: shard_simulation OHM SVG FILES...");
  const Measured costs = Costs(words[0], {words.begin() + 2, words.end()}).measured();
  std::vector<Simulated> all;
  for (std::size_t shards = 1; shards <= 4096; shards *= 2) {
    all.push_back(simulated(costs, shards));
  }
  fmt::print("{}", table(costs, all));
  std::ofstream(words[1]) << picture(costs, all);
  return 0;
}

}  // namespace
}  // namespace ohm::engine

int main(int argc, char** argv) {
  try {
    return ohm::engine::simulate({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "shard_simulation: {}\n", error.what());
    return 1;
  }
}
