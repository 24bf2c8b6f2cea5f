#include "reports/text/foreign_messages.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <regex>

#include "reports/text/foreign_wordings.h"
#include "reports/text/host_wordings.h"

namespace ohm::reports {

namespace {

using Match = std::cmatch;

struct Pattern {
  const ForeignWording& wording;
  std::regex pattern;
};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = [] {
    std::vector<Pattern> made;
    for (const ForeignWording& wording : foreign_wordings())
      made.push_back({wording, std::regex(wording.pattern)});
    return made;
  }();
  return all;
}

/// JAX and TensorFlow share XLA. JAX builds it as a dependency, whose paths begin with "external".
std::string source_of(const ForeignWording& wording, std::string_view line) {
  const auto has = [line](std::string_view words) {
    return line.find(words) != std::string_view::npos;
  };
  const std::string_view source = wording.source;
  const bool is_jax = has("jax") || has("external/org_tensorflow") || has("external/xla") ||
                      has("xla/python") || has("pjrt");
  if (source == "JAX" && !is_jax && (has("tensorflow") || has("[Op:") || has("{{node"))) {
    return "TensorFlow";
  }
  return std::string(source == "TensorFlow" && has("bfc_allocator") && is_jax ? "JAX" : source);
}

/// Where the line tells that it is the other's.
std::string fix_of(const ForeignWording& wording, const std::string& source) {
  if (source == wording.source) return wording.fix;
  return source == "JAX" ? kSmallerJax : kSmallerTensorFlow;
}

bool is_of_framework(std::string_view source) {
  constexpr std::array<std::string_view, 5> kFrameworks = {"vLLM", "SGLang", "TGI", "Accelerate",
                                                           "bitsandbytes"};
  return std::find(kFrameworks.begin(), kFrameworks.end(), source) != kFrameworks.end();
}

/// Whether the text ends with a number that was found: it may have had more digits.
bool may_be_cut(const Match& match, std::string_view text) {
  const char* const end = text.data() + text.find_last_not_of(" \r\n") + 1;
  return std::any_of(std::next(match.begin()), match.end(), [&](const auto& found) {
    return found.matched && found.length() > 0 && found.second == end &&
           found.str().find_first_not_of("0123456789.") == std::string::npos;
  });
}

}  // namespace

ForeignMessage message_of_killed_process() {
  ForeignMessage message;
  message.source = "The host";
  message.what = kKilledText;
  message.fix = kConfirmKill;
  message.is_certain = false;
  return message;
}

std::optional<ForeignMessage> find_foreign_message(std::string_view line) {
  for (const auto& [wording, pattern] : patterns()) {
    Match match;
    if (!std::regex_search(line.data(), line.data() + line.size(), match, pattern)) continue;
    ForeignMessage message;
    message.source = source_of(wording, line);
    message.what = wording.what(match);
    message.fix = fix_of(wording, message.source);
    message.is_of_framework = is_of_framework(wording.source);
    message.is_certain = wording.is_certain;
    message.at = static_cast<std::size_t>(match.position());
    const std::optional<double> bytes = wording.request ? wording.request(match) : std::nullopt;
    constexpr double kMostBytes = 0x1p64;
    if (bytes && *bytes < kMostBytes && !may_be_cut(match, line))
      message.request = PrintedBytes{*bytes, 0};
    return message;
  }
  return std::nullopt;
}

std::vector<std::string> foreign_sources() {
  std::vector<std::string> sources;
  for (const ForeignWording& wording : foreign_wordings()) {
    if (std::find(sources.begin(), sources.end(), wording.source) == sources.end()) {
      sources.emplace_back(wording.source);
    }
  }
  return sources;
}

}  // namespace ohm::reports
