#include "harness/replay/recorded_calls.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace ohm::engine {

namespace {

/// As harness/record/ohm_calls.py writes it.
constexpr std::string_view kCallName = "ohm record call ";

std::string_view taken_until(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

std::optional<std::uint32_t> number(std::string_view word, std::size_t most) {
  std::uint32_t value = 0;
  const auto [rest, wrong] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (wrong != std::errc() || rest != word.data() + word.size() || value > most) return {};
  return value;
}

/// "3,5,8", or "-" for none.
std::optional<std::vector<std::uint32_t>> numbers(std::string_view word, std::size_t most) {
  std::vector<std::uint32_t> values;
  if (word == "-") return values;
  while (!word.empty()) {
    const auto value = number(taken_until(word, ','), most);
    if (!value) return {};
    values.push_back(*value);
  }
  std::sort(values.begin(), values.end());
  return values;
}

/// "105s", "105r2".
std::optional<RecordedNode> node(std::string_view word, std::size_t most) {
  const std::size_t at = word.find_first_of("nmsru");
  if (at == std::string_view::npos) return {};
  const auto event = number(word.substr(0, at), most);
  const char kind = word[at];
  const std::string_view rest = word.substr(at + 1);
  const auto results = kind == 'r' ? number(rest, most) : std::optional<std::uint32_t>(0);
  if (!event || !results || (kind != 'r' && !rest.empty())) return {};
  using Saves = RecordedNode::Saves;
  const bool is_sure = kind == 's' || kind == 'r';
  const Saves saves = kind == 'n' ? Saves::nothing : is_sure ? Saves::something : Saves::maybe;
  return RecordedNode{*event, saves, *results, kind == 'u'};
}

std::optional<std::vector<RecordedNode>> nodes_of(std::string_view word, std::size_t most) {
  std::vector<RecordedNode> all;
  if (word == "-") return all;
  while (!word.empty()) {
    const auto one = node(taken_until(word, ','), most);
    if (!one) return {};
    all.push_back(*one);
  }
  const auto earlier = [](const RecordedNode& a, const RecordedNode& b) {
    return a.event < b.event;
  };
  std::stable_sort(all.begin(), all.end(), earlier);
  return all;
}

std::optional<RecordedCall> call_of(std::string_view words, std::size_t device,
                                    std::size_t events) {
  const auto begin = number(taken_until(words, ' '), events);
  const auto end = number(taken_until(words, ' '), events);
  const auto nodes = nodes_of(taken_until(words, ' '), events);
  const auto inputs = numbers(taken_until(words, ' '), events);
  const auto outputs = numbers(taken_until(words, ' '), events);
  const auto casts = number(taken_until(words, ' '), 1);
  if (!begin || !end || !nodes || !inputs || !outputs || !casts || words.empty()) return {};
  if (*end < *begin || (!nodes->empty() && nodes->front().event < *end)) return {};
  return RecordedCall{std::string(words), device,     *begin, *end, *nodes, *inputs,
                      *outputs,           *casts == 1};
}

}  // namespace

std::vector<RecordedCall> recorded_calls(const Snapshot& snapshot) {
  std::vector<RecordedCall> calls;
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    const std::string_view name = snapshot.tables.text(annotation.name);
    const auto device = static_cast<std::size_t>(annotation.device);
    if (!name.starts_with(kCallName) || device >= snapshot.device_traces.size()) continue;
    auto call =
        call_of(name.substr(kCallName.size()), device, snapshot.device_traces[device].size());
    if (call) calls.push_back(std::move(*call));
  }
  return calls;
}

bool is_module_of(std::string_view path, std::string_view pattern) {
  while (!path.empty() && !pattern.empty()) {
    const std::string_view part = taken_until(path, '.');
    const std::string_view wanted = taken_until(pattern, '.');
    if (wanted != "*" && part != wanted) return false;
  }
  return path.empty() && pattern.empty();
}

}  // namespace ohm::engine
