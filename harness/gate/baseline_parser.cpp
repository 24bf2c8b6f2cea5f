#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "harness/gate/baseline.h"
#include "reports/history/result_diff.h"
#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using Json = nlohmann::json;

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
    if (line.starts_with("source ")) {
      baseline_.source = line.substr(line.find(' ') + 1);
      return;
    }
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
    } else if (word == "comparison") {
      variant_->figures.comparison = line;
    } else if (word == "limit") {
      variant_->figures.limits.emplace_back().limit = line;
    } else if (word == "value") {
      parse_value(line);
    } else if (!parse_host(word, line)) {
      parse_device(std::string(word), line);
    }
  }

  void check_first(std::string_view line) const {
    if (line == kBaselineFormat) return;
    if (line.starts_with("ohm.baseline/")) {
      refuse(fmt::format("its format is {}, this program reads {}", line, kBaselineFormat));
    }
    refuse(fmt::format("a baseline begins with {}", kBaselineFormat));
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
    const Json place = reports::json_or_discarded(line);
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

}  // namespace

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

}  // namespace ohm::engine
