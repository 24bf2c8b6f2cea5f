#include "reports/console/explained_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/markdown_text.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

struct Chapter {
  std::string_view word;  ///< as scenarios name it
  std::string_view title;
};

/// In the order they are taught: what memory is for, what keeps it, what makes it less.
constexpr std::array<Chapter, 8> kChapters = {{{"basics", "Where the memory goes"},
                                               {"leaks", "Things that live too long"},
                                               {"cache", "The allocator's cache"},
                                               {"activations", "Fewer activations"},
                                               {"parameters", "Parameters and optimizer state"},
                                               {"precision", "Half precision"},
                                               {"gpus", "Several GPUs"},
                                               {"faults", "Living with limits"}}};
constexpr std::string_view kLastChapter = "More";

std::size_t chapter_index(std::string_view word) {
  const auto found = std::find_if(kChapters.begin(), kChapters.end(),
                                  [&](const Chapter& chapter) { return chapter.word == word; });
  return static_cast<std::size_t>(found - kChapters.begin());
}

// ---- figures ------------------------------------------------------------------------------------

std::optional<std::int64_t> largest_peak(const VariantResult& variant) {
  if (variant.devices.empty()) return std::nullopt;
  std::int64_t peak = 0;
  for (const DeviceResult& device : variant.devices) {
    peak = std::max(peak, device.peak_allocated_bytes);
  }
  return peak;
}

const VariantResult* problem_of(const ScenarioResult& scenario, const VariantResult& variant) {
  const auto found = std::find_if(
      scenario.variants.begin(), scenario.variants.end(), [&](const VariantResult& other) {
        return other.role == Role::problem && other.name == variant.of && &other != &variant;
      });
  return found == scenario.variants.end() ? nullptr : &*found;
}

/// In whole numbers, but for what would look like nothing or like everything and is not.
std::string percent_text(double percent) {
  const double whole = std::round(percent);
  if (whole == 100 && percent < 100) return fmt::format("{:.1f}", std::min(percent, 99.9));
  if (whole == 0) return fmt::format("{:.1g}", percent);
  return fmt::format("{:.0f}", whole);
}

/// "6.71 MiB (−89 %)": beside the problem that it belongs to. What broke off has no peak to
/// compare.
std::string peak_text(const VariantResult& variant, const VariantResult* problem) {
  const auto peak = largest_peak(variant);
  if (!peak || variant.verdict == Verdict::error) return "";
  std::string text = human_bytes(static_cast<std::uint64_t>(*peak));
  const auto other = problem == nullptr ? std::nullopt : largest_peak(*problem);
  if (!other || *other == 0) return text;
  if (*peak == *other) return text + " (the same)";
  const double change = 100 * (static_cast<double>(*peak) / static_cast<double>(*other) - 1);
  return text + fmt::format(" ({}{} %)", change < 0 ? "−" : "+", percent_text(std::abs(change)));
}

/// What the variant measures where the problem breaks a limit: "growth_bytes_per_step 0 instead of
/// 2.00 MiB". The peak has a column of its own.
std::vector<std::string> effects(const VariantResult& variant, const VariantResult* problem) {
  std::vector<std::string> texts;
  if (problem == nullptr) return texts;
  for (const LimitResult& broken : problem->limits) {
    const bool tells = broken.holds == false && broken.measured &&
                       !broken.limit.starts_with("peak_allocated_bytes");
    if (!tells) continue;
    const auto own = std::find_if(
        variant.limits.begin(), variant.limits.end(),
        [&](const LimitResult& limit) { return limit.limit == broken.limit && limit.measured; });
    if (own == variant.limits.end() || *own->measured == *broken.measured) continue;
    const std::string name = broken.limit.substr(0, broken.limit.find(' '));
    const std::string mine = short_figure(*own->measured, own->unit);
    const std::string others = short_figure(*broken.measured, broken.unit);
    if (mine != others) texts.push_back(fmt::format("{} {} instead of {}", name, mine, others));
  }
  return texts;
}

std::string machine_of(const VariantResult& variant) {
  if (variant.devices.empty()) return "";
  const DeviceResult& device = variant.devices.front();
  return fmt::format("{} × {} of {}, {}", variant.devices.size(), printable(device.profile),
                     human_bytes(static_cast<std::uint64_t>(device.capacity_bytes)), device.rules);
}

/// The first variant's; those on another one say so.
std::string machine_of(const ScenarioResult& scenario) {
  for (const VariantResult& variant : scenario.variants) {
    if (!variant.devices.empty()) return machine_of(variant);
  }
  return "";
}

std::string finding(const ScenarioResult& scenario, const VariantResult& variant) {
  const VariantResult* const problem = problem_of(scenario, variant);
  std::vector<std::string> parts = {printable(variant.reason)};
  const std::string machine = machine_of(variant);
  if (!machine.empty() && machine != machine_of(scenario)) parts.push_back("on " + machine);
  for (std::string& effect : effects(variant, problem)) parts.push_back(std::move(effect));
  const std::string trade = "trades " + printable(variant.trades);
  if (!variant.trades.empty() && !parts.front().starts_with(trade)) parts.push_back(trade);
  if (variant.verdict == Verdict::failed || variant.verdict == Verdict::error) {
    parts.push_back("this is not what the scenario says: " + std::string(name_of(variant.verdict)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

struct RoleTitle {
  Role role;
  std::string_view title;
};

constexpr std::array<RoleTitle, 6> kRoleTitles = {{{Role::problem, "What goes wrong"},
                                                   {Role::mitigation, "What helps"},
                                                   {Role::partial, "What helps in part"},
                                                   {Role::non_fix, "What does not help"},
                                                   {Role::control, "What is harmless"},
                                                   {Role::check, "What can be relied on"}}};

std::vector<const VariantResult*> of_role(const ScenarioResult& scenario, Role role) {
  std::vector<const VariantResult*> variants;
  for (const VariantResult& variant : scenario.variants) {
    if (variant.role == role) variants.push_back(&variant);
  }
  return variants;
}

std::string symptom_text(const ExplainedScenario& scenario) {
  return scenario.symptom.empty() ? scenario.result.summary : scenario.symptom;
}

// ---- a terminal ---------------------------------------------------------------------------------

class ExplainedText {
 public:
  ExplainedText(const ExplainedScenario& scenario, const ReportStyle& style)
      : scenario_(scenario), style_(style) {}

  std::string run() {
    const ScenarioResult& result = scenario_.result;
    text_ = painted(printable(result.name), Tone::strong, style_.color) + "  " +
            printable(result.summary) + "\n";
    add_words("What you see", symptom_text(scenario_));
    add_words("Why", scenario_.cause);
    add_words("What to do", scenario_.what_to_do);
    if (result.error) {
      add_words("It could not be run", result.error->message);
      return std::move(text_);
    }
    add_figures();
    add_words("In PyTorch", scenario_.pytorch);
    add_words("In TensorFlow/Keras", scenario_.keras);
    text_ += "\n" + painted(fmt::format("Measured now: ohm run {}\n", printable(result.file)),
                            Tone::faint, style_.color);
    return std::move(text_);
  }

 private:
  void add_words(std::string_view title, const std::string& words) {
    if (words.empty()) return;
    text_ += "\n" + painted(title, Tone::strong, style_.color) + "\n" +
             indented(printable(words), 2, style_.columns);
  }

  void add_figures() {
    const ScenarioResult& result = scenario_.result;
    for (const VariantResult& variant : result.variants) {
      name_columns_ = std::max(name_columns_, display_width(variant.name));
      peak_columns_ =
          std::max(peak_columns_, display_width(peak_text(variant, problem_of(result, variant))));
    }
    name_columns_ = std::min<std::size_t>(name_columns_, 28);
    for (const RoleTitle& group : kRoleTitles) {
      const auto variants = of_role(result, group.role);
      if (variants.empty()) continue;
      const std::string where = group.role == Role::problem ? ", on " + machine_of(result) : "";
      text_ += "\n" + painted(group.title, Tone::strong, style_.color) + where + "\n";
      for (const VariantResult* variant : variants) add_variant(*variant);
    }
    const std::string modelled = modelled_text(result);
    if (!modelled.empty()) text_ += "\n" + indented(modelled, 2, style_.columns);
  }

  void add_variant(const VariantResult& variant) {
    const VariantResult* const problem = problem_of(scenario_.result, variant);
    const std::string cells =
        "  " + pad_right(shortened(printable(variant.name), name_columns_), name_columns_) + "  " +
        pad_left(peak_text(variant, problem), peak_columns_) + "  ";
    const std::size_t indent = display_width(cells);
    std::string lines =
        indented(finding(scenario_.result, variant), indent, std::max(style_.columns, indent + 30));
    lines.replace(0, indent, cells);
    const bool is_bad = variant.verdict == Verdict::failed || variant.verdict == Verdict::error;
    text_ += is_bad ? painted(lines, Tone::bad, style_.color) : lines;
  }

  const ExplainedScenario& scenario_;
  const ReportStyle& style_;
  std::size_t name_columns_ = 0;
  std::size_t peak_columns_ = 0;
  std::string text_;
};

// ---- Markdown -----------------------------------------------------------------------------------

/// In a cell of a table: Markdown.
std::string in_cell(std::string_view markdown) {
  std::string out;
  for (const char c : markdown) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string table_cell(std::string_view text) { return in_cell(without_html(text)); }

std::string markdown_table(const ScenarioResult& result) {
  std::string out = "| | variant | peak | what was measured |\n|---|---|---:|---|\n";
  for (const RoleTitle& group : kRoleTitles) {
    bool is_first = true;
    for (const VariantResult* variant : of_role(result, group.role)) {
      const VariantResult* const problem = problem_of(result, *variant);
      out += fmt::format("| {} | {} | {} | {} |\n", is_first ? group.title : "",
                         in_cell(markdown_code(variant->name)), peak_text(*variant, problem),
                         table_cell(finding(result, *variant)));
      is_first = false;
    }
  }
  return out + "\n";
}

std::string keras_markdown(const std::string& keras) {
  return keras.empty() ? "" : "**In TensorFlow/Keras:** " + without_html(keras) + "\n\n";
}

}  // namespace

std::string explained_text(const ExplainedScenario& scenario, const ReportStyle& style) {
  return ExplainedText(scenario, style).run();
}

std::string explained_markdown(const ExplainedScenario& scenario) {
  const ScenarioResult& result = scenario.result;
  std::string out =
      fmt::format("### {}: {}\n\n", table_cell(result.name), table_cell(result.summary));
  const auto add = [&](std::string_view title, const std::string& words) {
    if (!words.empty()) out += fmt::format("**{}:** {}\n\n", title, without_html(words));
  };
  add("What you see", symptom_text(scenario));
  add("Why", scenario.cause);
  add("What to do", scenario.what_to_do);
  if (result.error) {
    add("It could not be run", result.error->message);
    return out;
  }
  out += fmt::format("Measured on {}:\n\n", machine_of(result)) + markdown_table(result);
  const std::string modelled = modelled_text(result);
  if (!modelled.empty()) out += table_cell(modelled) + "\n\n";
  if (!scenario.pytorch.empty()) out += markdown_block("python", scenario.pytorch) + "\n";
  return out + keras_markdown(scenario.keras) + markdown_code("ohm run " + result.file) + "\n\n";
}

std::string handout(std::span<const ExplainedScenario> scenarios) {
  std::vector<const ExplainedScenario*> order;
  for (const ExplainedScenario& scenario : scenarios) order.push_back(&scenario);
  std::stable_sort(order.begin(), order.end(),
                   [](const ExplainedScenario* a, const ExplainedScenario* b) {
                     return chapter_index(a->chapter) < chapter_index(b->chapter);
                   });
  std::string out =
      "# GPU memory: what goes wrong, and what helps\n\n"
      "Every figure in this document was measured by the run that wrote it, on virtual GPUs that "
      "allocate as PyTorch does. The percentages compare a peak with that of the problem.\n\n";
  std::size_t chapter = kChapters.size() + 1;
  for (const ExplainedScenario* scenario : order) {
    const std::size_t index = chapter_index(scenario->chapter);
    if (index != chapter) {
      out += fmt::format("## {}\n\n",
                         index < kChapters.size() ? kChapters.at(index).title : kLastChapter);
    }
    chapter = index;
    out += explained_markdown(*scenario);
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace ohm::reports
