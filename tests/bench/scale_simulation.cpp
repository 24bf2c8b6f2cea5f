// How much sooner a sweep ends on N shards, simulated from what was measured: docs/scale.md.
//
//   scale_simulation [--svg PATH] FAULTS TRIAL PREPARE START DISPATCH MERGE
//
// FAULTS are injected, one after the other on one core, in TRIAL seconds each. PREPARE seconds pass
// before the first shard is submitted, START in each shard before its first fault and after its
// last, DISPATCH between the starts of two tasks of Slurm's, MERGE for the report of each shard.
// Each shard has a core of its own. Prints a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "harness/sweep/cost_share.h"

namespace ohm {
namespace {

struct Costs {
  std::size_t faults;
  double trial;
  double prepare;
  double start;
  double dispatch;
  double merge;

  double alone() const { return prepare + static_cast<double>(faults) * trial; }
};

struct Point {
  std::size_t shards;
  double seconds;   ///< until the merged report is there
  double work;      ///< of them, in the shard that ends last: faults
  double speed_up;  ///< beside one core without shards
};

Point simulated(const Costs& costs, std::size_t shards) {
  const std::vector<double> trials(costs.faults, costs.trial);
  Point point{shards, 0, 0, 0};
  for (std::size_t index = 0; index < shards; ++index) {
    const engine::CostShare share = engine::share_of_costs(trials, {index, shards});
    const double work = static_cast<double>(share.end - share.first) * costs.trial;
    const double end = static_cast<double>(index + 1) * costs.dispatch + costs.start + work;
    point.work = std::max(point.work, work);
    point.seconds = std::max(point.seconds, end);
  }
  point.seconds += costs.prepare + static_cast<double>(shards) * costs.merge;
  point.speed_up = costs.alone() / point.seconds;
  return point;
}

// ---- the picture --------------------------------------------------------------------------------

constexpr double kLeft = 70;
constexpr double kTop = 20;
constexpr double kSide = 420;
constexpr double kMost = 4096;

/// Both axes are logarithmic, from 1 on.
double x_of(double shards) { return kLeft + kSide * std::log2(shards) / std::log2(kMost); }
double y_of(double speed_up) {
  return kTop + kSide * (1 - std::log2(std::max(1.0, speed_up)) / std::log2(kMost));
}

std::string polyline(const std::vector<Point>& points, const char* colour) {
  std::string text;
  for (const Point& point : points) {
    text += fmt::format("{:.1f},{:.1f} ", x_of(static_cast<double>(point.shards)),
                        y_of(point.speed_up));
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\"/>\n",
                     text, colour);
}

std::string axes() {
  std::string text;
  for (double at = 1; at <= kMost; at *= 4) {
    text += fmt::format(
        "<path d=\"M{0:.1f} {1} V{2} M{3} {4:.1f} H{5}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{6}\" text-anchor=\"middle\">{7}</text>\n"
        "<text x=\"{8}\" y=\"{9:.1f}\" text-anchor=\"end\">{7}</text>\n",
        x_of(at), kTop, kTop + kSide, kLeft, y_of(at), kLeft + kSide, kTop + kSide + 18, at,
        kLeft - 8, y_of(at) + 4);
  }
  return text + fmt::format(
                    "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">shards</text>\n"
                    "<text x=\"18\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 "
                    "18 {})\">times as fast as one core</text>\n",
                    kLeft + kSide / 2, kTop + kSide + 40, kTop + kSide / 2, kTop + kSide / 2);
}

std::string picture(const std::vector<Point>& points, const std::vector<Point>& hundredfold) {
  const auto label = [](double x, double y, const char* colour, const std::string& text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", x, y, colour,
                       text);
  };
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"660\" height=\"500\" "
         "font-family=\"sans-serif\" font-size=\"13\">\n"
         "<rect width=\"660\" height=\"500\" fill=\"white\"/>\n" +
         axes() +
         fmt::format("<path d=\"M{} {} L{} {}\" stroke=\"#999\" stroke-dasharray=\"5 4\"/>\n",
                     x_of(1), y_of(1), x_of(kMost), y_of(kMost)) +
         polyline(points, "#1f5fa8") + polyline(hundredfold, "#b8532c") +
         label(x_of(kMost) + 8, y_of(kMost) + 4, "#777", "ideal") +
         label(x_of(kMost) + 8, y_of(points.back().speed_up) + 4, "#1f5fa8", "this sweep") +
         label(x_of(kMost) + 8, y_of(hundredfold.back().speed_up) + 4, "#b8532c",
               "100 times the faults") +
         "</svg>\n";
}

std::vector<Point> simulated_all(const Costs& costs) {
  std::vector<Point> points;
  for (std::size_t shards = 1; shards <= static_cast<std::size_t>(kMost); shards *= 2) {
    points.push_back(simulated(costs, shards));
  }
  return points;
}

/// A hundred times the faults, each a hundred at once: the shares are the same.
std::vector<Point> simulated_hundredfold(Costs costs) {
  costs.trial *= 100;
  return simulated_all(costs);
}

}  // namespace
}  // namespace ohm

int main(int argc, char** argv) {
  using namespace ohm;
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string svg;
  if (words.size() > 2 && words[0] == "--svg") {
    svg = words[1];
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() != 6) {
    fmt::print(stderr, "scale_simulation [--svg PATH] FAULTS TRIAL PREPARE START DISPATCH MERGE\n");
    return 2;
  }
  std::vector<double> given;
  for (const std::string& word : words) given.push_back(std::atof(word.c_str()));
  const Costs costs{
      static_cast<std::size_t>(given[0]), given[1], given[2], given[3], given[4], given[5]};
  const std::vector<Point> points = simulated_all(costs);
  fmt::print("| shards | seconds | of them faults, in one shard | times as fast |\n");
  fmt::print("|---:|---:|---:|---:|\n");
  for (const Point& point : points) {
    fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} |\n", point.shards, point.seconds, point.work,
               point.speed_up);
  }
  if (!svg.empty()) std::ofstream(svg) << picture(points, simulated_hundredfold(costs));
  return 0;
}
