#include "harness/gate/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "harness/judge/value_digest.h"
#include "reports/console/result_diff_text.h"
#include "reports/text/measured_text.h"

namespace ohm::engine {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kFirstLine = "ohm.baseline/2";

/// What each device of a machine is told by, in this order.
constexpr std::array<const char*, 5> kMachineWords = {"profile", "capacity", "use of values",
                                                      "rules", "settings"};

std::string machine_of(const VariantResult& variant, std::uint64_t seed) {
  std::string machine;
  for (const DeviceResult& device : variant.devices) {
    const Json one = {device.profile, device.capacity_bytes, device.values, device.rules,
                      device.alloc_conf};
    machine += one.dump() + " ";
  }
  return machine + fmt::format("seed {}", seed);
}

/// The devices of a machine's text; empty where it was edited into something else.
std::vector<Json> devices_of(const std::string& machine) {
  std::vector<Json> devices;
  std::istringstream text(machine);
  try {
    while ((text >> std::ws).peek() == '[') {
      Json device;
      text >> device;
      if (device.size() != kMachineWords.size()) return {};
      devices.push_back(std::move(device));
    }
  } catch (const Json::exception&) {
    return {};
  }
  return devices;
}

/// The first thing that is not the same, in words.
std::string machine_difference(const std::string& there, const std::string& here) {
  const std::vector<Json> before = devices_of(there);
  const std::vector<Json> after = devices_of(here);
  if (before.size() != after.size()) {
    return fmt::format("the GPUs are {} there, {} here", before.size(), after.size());
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    for (std::size_t word = 0; word < kMachineWords.size(); ++word) {
      if (before[i][word] == after[i][word]) continue;
      return fmt::format("the {} of cuda:{} is {} there, {} here", kMachineWords[word], i,
                         before[i][word].dump(), after[i][word].dump());
    }
  }
  return fmt::format("the seed or the text is {} there, {} here", there, here);
}

bool has_figures(const VariantResult& variant) {
  return variant.outcome == Outcome::completed || variant.outcome == Outcome::oom ||
         variant.outcome == Outcome::error;
}

// ---- writing ------------------------------------------------------------------------------------

std::string holder_lines(const DeviceResult& device, const std::filesystem::path& folder) {
  std::vector<std::string> lines;
  for (const HolderResult& holder : device.peak->holders) {
    // As seen from the scenario, wherever it is run from. A line that moves is the same line: its
    // number stands for it only where its text is not known.
    const std::string file =
        std::filesystem::path(holder.file).lexically_proximate(folder).string();
    Json place = {holder.op, holder.file.empty() ? "" : file, holder.text};
    if (holder.text.empty() && holder.line > 0) place.push_back(holder.line);
    lines.push_back(fmt::format("  {} holds {} in {} {} {}\n", device.device, holder.bytes,
                                holder.count, name_of(holder.category),
                                place.dump(-1, ' ', false, Json::error_handler_t::replace)));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

/// Names and shapes are JSON: a script can give a value any name.
std::string value_line(const ValueResult& value) {
  const Json head = {value.name, value.dtype, value.shape};
  std::string line = "  value " + head.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!value.digest.empty()) line += " digest " + value.digest;
  if (value.norm) line += fmt::format(" norm {:.9g}", *value.norm);
  if (value.projection) line += fmt::format(" projection {:.9g}", *value.projection);
  if (value.non_finite > 0) line += fmt::format(" non_finite {}", value.non_finite);
  return line + "\n";
}

std::string variant_text(const std::string& name, const BaselineVariant& variant,
                         const std::filesystem::path& folder) {
  const VariantResult& figures = variant.figures;
  std::string out = fmt::format("\nvariant {}\n  machine {}\n  outcome {}\n  steps {}\n", name,
                                variant.machine, name_of(figures.outcome), figures.steps);
  for (const LimitResult& limit : figures.limits) out += fmt::format("  limit {}\n", limit.limit);
  for (const ValueResult& value : figures.values) out += value_line(value);
  for (const reports::HostFigure& figure : reports::host_figures()) {
    if (!figures.host) break;
    out += fmt::format("  {} {}\n", figure.name, (*figures.host).*figure.member);
  }
  for (const DeviceResult& device : figures.devices) {
    for (const reports::DeviceFigure& figure : reports::device_figures()) {
      out += fmt::format("  {} {} {}\n", device.device, figure.name, device.*figure.member);
    }
    if (device.peak) out += holder_lines(device, folder);
  }
  return out;
}

// ---- reading ------------------------------------------------------------------------------------

class Parser {
 public:
  Baseline parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      parse_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (line_ == 0) refuse("is empty");
    if (baseline_.variants.empty()) refuse("it has no variant");
    return std::move(baseline_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw BaselineError(fmt::format("line {}: {}; ohm baseline update rewrites it", line_, what));
  }

  void parse_line(std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line_ == 1) return check_first(line);
    if (line.empty() || line.front() == '#') return;
    if (!line.starts_with("  ")) return begin_variant(line);
    if (variant_ == nullptr) refuse("figures before the first variant");
    line.remove_prefix(2);
    const std::string_view word = take_word(line);
    if (word == "machine") {
      variant_->machine = line;
    } else if (word == "outcome") {
      variant_->figures.outcome = outcome(line);
    } else if (word == "steps") {
      variant_->figures.steps = number(line);
    } else if (word == "limit") {
      variant_->figures.limits.emplace_back().limit = line;
    } else if (word == "value") {
      parse_value(line);
    } else if (!parse_host(word, line)) {
      parse_device(std::string(word), line);
    }
  }

  void check_first(std::string_view line) const {
    if (line == kFirstLine) return;
    if (line.starts_with("ohm.baseline/")) {
      refuse(fmt::format("its format is {}, this program reads {}", line, kFirstLine));
    }
    refuse(fmt::format("a baseline begins with {}", kFirstLine));
  }

  void begin_variant(std::string_view line) {
    if (take_word(line) != "variant" || line.empty()) refuse("expected \"variant NAME\"");
    const std::string name(line);
    const auto [entry, is_new] = baseline_.variants.try_emplace(name);
    if (!is_new) refuse(fmt::format("{} appears twice", name));
    variant_ = &entry->second;
    variant_->figures.name = name;
  }

  /// ["name", "dtype", [shape]] and figures, each after its name.
  void parse_value(std::string_view line) {
    ValueResult& value = variant_->figures.values.emplace_back();
    std::istringstream text{std::string(line)};
    try {
      Json head;
      text >> head;
      value.name = head.at(0).get<std::string>();
      value.dtype = head.at(1).get<std::string>();
      value.shape = head.at(2).get<std::vector<std::int64_t>>();
    } catch (const Json::exception&) {
      refuse("expected value [\"name\", \"dtype\", [shape]]");
    }
    for (std::string word; text >> word;) {
      std::string figure;
      text >> figure;
      if (word == "digest") {
        value.digest = figure;
      } else if (word == "norm") {
        value.norm = real(figure);
      } else if (word == "projection") {
        value.projection = real(figure);
      } else if (word == "non_finite") {
        value.non_finite = number(figure);
      } else {
        refuse(fmt::format("\"{}\" is not a figure of a value", word));
      }
    }
  }

  bool parse_host(std::string_view word, std::string_view line) {
    for (const reports::HostFigure& figure : reports::host_figures()) {
      if (figure.name != word) continue;
      if (!variant_->figures.host) variant_->figures.host.emplace();
      (*variant_->figures.host).*figure.member = number(line);
      return true;
    }
    return false;
  }

  void parse_device(const std::string& name, std::string_view line) {
    std::vector<DeviceResult>& devices = variant_->figures.devices;
    if (devices.empty() || devices.back().device != name) {
      if (!name.starts_with("cuda:")) refuse(fmt::format("\"{}\" is not known", name));
      devices.emplace_back().device = name;
      devices.back().peak = PeakResult{};
    }
    DeviceResult& device = devices.back();
    const std::string_view word = take_word(line);
    if (word == "holds") return parse_holder(device, line);
    for (const reports::DeviceFigure& figure : reports::device_figures()) {
      if (figure.name != word) continue;
      device.*figure.member = number(line);
      return;
    }
    refuse(fmt::format("\"{}\" is not a figure", word));
  }

  /// BYTES in COUNT CATEGORY ["op", "file", "text"], or ["op", "file", "", line].
  void parse_holder(DeviceResult& device, std::string_view line) {
    HolderResult holder;
    holder.bytes = number(take_word(line));
    if (take_word(line) != "in") refuse("expected BYTES in COUNT CATEGORY [OP, FILE, TEXT]");
    holder.count = number(take_word(line));
    const std::string_view category = take_word(line);
    const auto* const known = std::find(kCategoryNames.begin(), kCategoryNames.end(), category);
    if (known == kCategoryNames.end()) refuse(fmt::format("\"{}\" is not a category", category));
    holder.category = static_cast<Category>(known - kCategoryNames.begin());
    const Json place = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const bool has_line = place.is_array() && place.size() == 4 && place[3].is_number_integer();
    const bool is_place = place.is_array() && (place.size() == 3 || has_line) &&
                          place[0].is_string() && place[1].is_string() && place[2].is_string();
    if (!is_place) refuse("expected [\"op\", \"file\", \"text\"] at the end");
    holder.op = place[0];
    holder.file = place[1];
    holder.text = place[2];
    if (has_line) holder.line = place[3];
    device.peak->holders.push_back(std::move(holder));
  }

  Outcome outcome(std::string_view word) const {
    const auto* const known = std::find(kOutcomeNames.begin(), kOutcomeNames.end(), word);
    if (known == kOutcomeNames.end()) refuse(fmt::format("\"{}\" is not an outcome", word));
    return static_cast<Outcome>(known - kOutcomeNames.begin());
  }

  std::int64_t number(std::string_view text) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) {
      refuse(fmt::format("\"{}\" is not a figure", text));
    }
    return value;
  }

  double real(std::string_view text) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      refuse(fmt::format("\"{}\" is not a figure", text));
    }
    return value;
  }

  static std::string_view take_word(std::string_view& line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
  }

  int line_ = 0;
  Baseline baseline_;
  BaselineVariant* variant_ = nullptr;
};

// ---- comparing ----------------------------------------------------------------------------------

/// The largest changes of the peak in one line; the whole list is in the diff.
std::string attribution(const reports::VariantDiff& diff) {
  std::string out;
  for (const reports::DeviceDiff& device : diff.devices) {
    for (const reports::HolderChange& change : device.holders) {
      if (change.change() == 0) continue;
      out += fmt::format("{}{}", out.empty() ? "" : "; ", reports::holder_sentence(change));
      if (out.size() > 300) return out + "; …";
    }
  }
  return out;
}

std::string change_reason(const reports::VariantDiff& diff) {
  std::vector<std::string> parts = diff.notes;
  const auto add = [&parts](const reports::FigureChange& change, const std::string& of) {
    parts.push_back(fmt::format("{}{} {}{}", of, change.figure, change.change() > 0 ? "+" : "",
                                reports::grouped(change.change())));
  };
  for (const reports::FigureChange& change : diff.figures) add(change, "");
  for (const reports::DeviceDiff& device : diff.devices) {
    for (const reports::FigureChange& change : device.figures) add(change, device.device + " ");
  }
  std::string out = fmt::format("{}", fmt::join(parts, ", "));
  const std::string lines = attribution(diff);
  return lines.empty() ? out : fmt::format("{}; at the peak: {}", out, lines);
}

std::vector<std::string> texts_of(const std::vector<LimitResult>& limits) {
  std::vector<std::string> texts;
  for (const LimitResult& limit : limits) texts.push_back(limit.limit);
  return texts;
}

/// "the limits were a <= 1, are a <= 2", "loss: norm 2 instead of 1": what makes a variant another.
std::vector<std::string> other_evidence(const VariantResult& before, const VariantResult& after) {
  std::vector<std::string> notes;
  const std::vector<std::string> were = texts_of(before.limits);
  const std::vector<std::string> are = texts_of(after.limits);
  if (were != are) {
    notes.push_back(
        fmt::format("the limits were {}, are {}", fmt::join(were, ", "), fmt::join(are, ", ")));
  }
  const auto named = [](const std::vector<ValueResult>& values, const std::string& name) {
    return std::find_if(values.begin(), values.end(),
                        [&](const ValueResult& value) { return value.name == name; });
  };
  for (const ValueResult& value : before.values) {
    const auto other = named(after.values, value.name);
    const std::string difference =
        other == after.values.end() ? "not returned" : digest_difference(value, *other);
    if (!difference.empty()) notes.push_back(fmt::format("{}: {}", value.name, difference));
  }
  for (const ValueResult& value : after.values) {
    if (named(before.values, value.name) != before.values.end()) continue;
    notes.push_back(value.name + ": was not returned");
  }
  return notes;
}

void take_machine(DeviceResult& device, const DeviceResult& from) {
  device.profile = from.profile;
  device.capacity_bytes = from.capacity_bytes;
  device.values = from.values;
  device.rules = from.rules;
  device.alloc_conf = from.alloc_conf;
}

BaselineCheck check_variant(const BaselineVariant& baseline, const VariantResult& variant,
                            const ScenarioResult& scenario, const std::string& machine) {
  BaselineCheck check;
  check.variant = variant.name;
  if (baseline.machine != machine) {
    check.state = BaselineCheck::State::incomparable;
    check.reason = "another machine: " + machine_difference(baseline.machine, machine);
    return check;
  }
  // What a baseline does not have cannot differ: verdicts, steps of the peak; the machine is equal.
  VariantResult before = baseline.figures;
  VariantResult after = variant;
  before.verdict = after.verdict;
  for (DeviceResult& device : before.devices) {
    for (const DeviceResult& same : after.devices) {
      if (same.device == device.device) take_machine(device, same);
    }
  }
  for (VariantResult* one : {&before, &after}) {
    one->history.reset();
    for (DeviceResult& device : one->devices) {
      if (device.peak) device.peak->step = 1;
    }
  }
  check.diff = reports::diff_variants(before, after, scenario, scenario);
  for (std::string& note : other_evidence(before, after)) {
    check.diff.notes.push_back(std::move(note));
  }
  check.state = compared_state(check.diff);
  if (check.state != BaselineCheck::State::equal) check.reason = change_reason(check.diff);
  return check;
}

}  // namespace

std::string baseline_path(const std::string& scenario_file) {
  return std::filesystem::path(scenario_file).replace_extension(".baseline").string();
}

Baseline baseline_of(const ScenarioResult& scenario, std::uint64_t seed) {
  Baseline baseline;
  for (const VariantResult& variant : scenario.variants) {
    if (!has_figures(variant)) continue;
    baseline.variants[variant.name] = {machine_of(variant, seed), variant};
  }
  return baseline;
}

std::string baseline_text(const Baseline& baseline, const std::string& scenario_file) {
  std::string out = fmt::format(
      "{}\n# What the variants of {} allocate, return and are held to; ohm baseline update writes "
      "it.\n",
      kFirstLine, std::filesystem::path(scenario_file).filename().string());
  const std::filesystem::path folder = std::filesystem::path(scenario_file).parent_path();
  for (const auto& [name, variant] : baseline.variants) out += variant_text(name, variant, folder);
  return out;
}

Baseline parse_baseline(std::string_view text, const std::string& path) {
  Baseline baseline = Parser().parse(text);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (auto& [name, variant] : baseline.variants) {
    for (DeviceResult& device : variant.figures.devices) {
      for (HolderResult& holder : device.peak->holders) {
        if (holder.file.empty()) continue;
        holder.file = (folder / holder.file).lexically_normal().string();
      }
    }
  }
  return baseline;
}

Baseline read_baseline(const std::string& path) {
  try {
    InputFile file(path);
    return read_baseline(file, path);
  } catch (const std::system_error& error) {
    throw BaselineError(fmt::format("cannot read {}: {}", path, error.code().message()));
  }
}

Baseline read_baseline(InputFile& file, const std::string& path) {
  try {
    return parse_baseline(file.rest(), path);
  } catch (const BaselineError& error) {
    throw BaselineError(fmt::format("{}: {}", path, error.what()));
  }
}

BaselineCheck::State compared_state(const reports::VariantDiff& diff) {
  using State = BaselineCheck::State;
  if (!diff.notes.empty()) return State::regressed;
  State state = State::equal;
  for (const reports::FigureChange& change : diff.figures) {
    // Fewer steps are another course; fewer bytes are not.
    if (change.unit != Unit::bytes || change.change() > 0) return State::regressed;
    state = State::improved;
  }
  for (const reports::DeviceDiff& device : diff.devices) {
    for (const reports::FigureChange& change : device.figures) {
      if (change.change() > 0) return State::regressed;
      state = State::improved;
    }
  }
  return state;
}

bool exceeds(const reports::VariantDiff& diff, double tolerance_percent) {
  if (!diff.notes.empty()) return true;
  const auto is_above = [&](const reports::FigureChange& change) {
    return static_cast<double>(change.change()) >
           static_cast<double>(change.before) * tolerance_percent / 100;
  };
  return std::any_of(diff.figures.begin(), diff.figures.end(), is_above) ||
         std::any_of(diff.devices.begin(), diff.devices.end(), [&](const auto& device) {
           return std::any_of(device.figures.begin(), device.figures.end(), is_above);
         });
}

std::vector<BaselineCheck> check_baseline(const Baseline& baseline, const ScenarioResult& scenario,
                                          std::uint64_t seed) {
  std::vector<BaselineCheck> checks;
  for (const VariantResult& variant : scenario.variants) {
    if (!has_figures(variant)) continue;
    const auto known = baseline.variants.find(variant.name);
    if (known == baseline.variants.end()) {
      BaselineCheck missing;
      missing.state = BaselineCheck::State::missing;
      missing.variant = variant.name;
      missing.reason = "the baseline does not have this variant";
      checks.push_back(std::move(missing));
      continue;
    }
    checks.push_back(check_variant(known->second, variant, scenario, machine_of(variant, seed)));
  }
  return checks;
}

}  // namespace ohm::engine
