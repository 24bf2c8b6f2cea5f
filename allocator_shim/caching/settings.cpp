#include "allocator_shim/caching/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <stdexcept>
#include <vector>

#include "allocator_shim/base/allocation_sizes.h"
#include "allocator_shim/base/bytes.h"

namespace ohm {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

/// Words and the punctuation between them; blanks are dropped, even inside a word.
std::vector<std::string> tokens_of(std::string_view text) {
  constexpr std::string_view kPunctuation = ",:[]";
  std::vector<std::string> tokens;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) tokens.push_back(std::move(word));
    word.clear();
  };
  for (const char c : text) {
    if (kPunctuation.find(c) != std::string_view::npos) {
      end_word();
      tokens.emplace_back(1, c);
    } else if (c != ' ') {
      word += c;
    }
  }
  end_word();
  return tokens;
}

class Tokens {
 public:
  explicit Tokens(std::string_view text) : tokens_(tokens_of(text)) {}

  bool at_end() const { return position_ >= tokens_.size(); }
  const std::string& take() { return tokens_[position_++]; }
  bool next_is(std::string_view token) const { return !at_end() && tokens_[position_] == token; }

  void expect(std::string_view token) {
    if (!next_is(token)) {
      refuse(fmt::format("Error parsing CachingAllocator settings, expected {}", token));
    }
    ++position_;
  }

  const std::string& take_value(std::string_view complaint) {
    if (at_end()) refuse(std::string(complaint));
    return take();
  }

 private:
  std::vector<std::string> tokens_;
  std::size_t position_ = 0;
};

/// As std::stoi and std::stod read: the longest number at the beginning, whatever follows.
template <typename Number>
Number number_in(std::string_view text, std::string_view key) {
  const std::size_t sign = text.starts_with('+') ? 1 : 0;
  Number number = {};
  const auto result = std::from_chars(text.data() + sign, text.data() + text.size(), number);
  if (result.ec != std::errc()) refuse(fmt::format("{}: not a number: {}", key, text));
  return number;
}

/// A whole number in PyTorch's conversion: negative ones become very large.
std::size_t size_in(std::string_view text, std::string_view key) {
  return static_cast<std::size_t>(number_in<int>(text, key));
}

/// `missing` is what PyTorch says when nothing follows the colon; of some keys it says no more than
/// of a wrong value.
bool take_flag(Tokens& tokens, std::string_view key, std::string_view missing = {}) {
  tokens.expect(":");
  if (tokens.at_end() && !missing.empty()) refuse(std::string(missing));
  const bool is_true = tokens.next_is("True");
  if (!is_true && !tokens.next_is("False")) {
    refuse(fmt::format("Expected a single True/False argument for {}", key));
  }
  tokens.take();
  return is_true;
}

std::size_t take_megabytes(Tokens& tokens, std::string_view key, std::size_t smallest_mb) {
  constexpr std::size_t kMostMegabytes = std::numeric_limits<std::size_t>::max() / 1_MiB;
  constexpr std::size_t kLargeBufferMegabytes = kLargeBufferBytes / 1_MiB;
  tokens.expect(":");
  const std::size_t megabytes =
      size_in(tokens.take_value(fmt::format("Error, expecting {} value", key)), key);
  if (megabytes < smallest_mb) {
    const std::string_view relation = smallest_mb > kLargeBufferMegabytes ? ">" : ">=";
    refuse(fmt::format("CachingAllocator option {} too small, must be {} {}", key, relation,
                       kLargeBufferMegabytes));
  }
  return std::min(megabytes, kMostMegabytes) * 1_MiB;
}

struct ParseState {
  Tokens tokens;
  const RuleSet& rules;
  AllocatorSettings settings;
};

void parse_max_split_size(ParseState& state) {
  state.settings.max_split_size_bytes =
      take_megabytes(state.tokens, "max_split_size_mb", state.rules.smallest_size_setting_mb);
}

void parse_max_non_split_rounding(ParseState& state) {
  state.settings.max_non_split_rounding_bytes = take_megabytes(
      state.tokens, "max_non_split_rounding_mb", state.rules.smallest_size_setting_mb);
}

void parse_garbage_collection_threshold(ParseState& state) {
  constexpr std::string_view kKey = "garbage_collection_threshold";
  state.tokens.expect(":");
  const auto threshold = number_in<double>(
      state.tokens.take_value("Error, expecting garbage_collection_threshold value"), kKey);
  if (!(threshold > 0)) refuse("garbage_collect_threshold too small, set it 0.0~1.0");
  if (!(threshold < 1)) refuse("garbage_collect_threshold too big, set it 0.0~1.0");
  state.settings.garbage_collection_threshold = threshold;
}

constexpr std::string_view kDivisions = "roundup_power2_divisions";

std::size_t take_division(Tokens& tokens) {
  tokens.expect(":");
  const std::size_t division =
      size_in(tokens.take_value("Error parsing roundup_power2_divisions value"), kDivisions);
  if (division != 0 && !std::has_single_bit(division)) {
    refuse("For roundups, the divisions has to be power of 2 or 0 to disable roundup ");
  }
  return division;
}

std::size_t interval_of(const std::string& key) {
  const auto megabytes = number_in<std::size_t>(key, kDivisions);
  if (!std::has_single_bit(megabytes)) {
    refuse("For roundups, the intervals have to be power of 2 ");
  }
  const auto interval = static_cast<std::size_t>(std::countr_zero(megabytes));
  return std::min(interval, AllocatorSettings::kRoundupIntervals - 1);
}

/// `[256:1,512:2,>:8]`, the opening bracket taken. Each entry sets its own interval; the first one
/// also those below it, `>` those above the last one. Intervals between two entries keep 0.
void parse_division_list(ParseState& state) {
  auto& table = state.settings.roundup_power2_divisions;
  const auto from = [&](std::size_t index) {
    return table.begin() + static_cast<std::ptrdiff_t>(index);
  };
  std::size_t last = 0;
  bool is_first = true;
  while (!state.tokens.next_is("]")) {
    const std::string key =
        state.tokens.take_value("Error parsing CachingAllocator settings, expected ]");
    const std::size_t division = take_division(state.tokens);
    if (key == ">") {
      const std::size_t above = state.rules.greater_than_overwrites_last_entry ? last : last + 1;
      std::fill(from(above), table.end(), division);
    } else {
      last = interval_of(key);
      if (is_first) std::fill(table.begin(), from(last), division);
      is_first = false;
      table[last] = division;
    }
    if (!state.tokens.next_is("]")) state.tokens.expect(",");
  }
  state.tokens.expect("]");
}

void parse_roundup_power2_divisions(ParseState& state) {
  state.tokens.expect(":");
  if (state.tokens.next_is("[")) {
    state.tokens.take();
    return parse_division_list(state);
  }
  const std::size_t division = size_in(
      state.tokens.take_value("Error, expecting roundup_power2_divisions value"), kDivisions);
  if (!std::has_single_bit(division)) refuse("For roundups, the divisions has to be power of 2 ");
  state.settings.roundup_power2_divisions.fill(division);
}

void parse_backend(ParseState& state) {
  state.tokens.expect(":");
  const std::string& backend = state.tokens.take_value("Error parsing backend value");
  if (backend == "native") return;
  if (backend == "cudaMallocAsync") {
    refuse("backend:cudaMallocAsync is another allocator; only backend:native is reproduced here");
  }
  refuse("Unknown allocator backend, options are native and cudaMallocAsync");
}

void parse_expandable_segments(ParseState& state) {
  state.settings.expandable_segments = take_flag(state.tokens, "expandable_segments");
}

void parse_release_lock(ParseState& state) {
  state.settings.release_lock_on_cudamalloc = take_flag(state.tokens, "release_lock_on_cudamalloc");
}

void parse_pinned_host_register(ParseState& state) {
  state.settings.pinned_use_cuda_host_register =
      take_flag(state.tokens, "pinned_use_cuda_host_register",
                "Error, expecting pinned_use_cuda_host_register value");
}

void parse_pinned_background_threads(ParseState& state) {
  state.settings.pinned_use_background_threads =
      take_flag(state.tokens, "pinned_use_background_threads",
                "Error, expecting pinned_use_background_threads value");
}

void parse_pinned_register_threads(ParseState& state) {
  constexpr std::string_view kKey = "pinned_num_register_threads";
  constexpr std::size_t kMostThreads = 128;
  state.tokens.expect(":");
  const std::size_t threads =
      size_in(state.tokens.take_value("Error, expecting pinned_num_register_threads value"), kKey);
  if (!std::has_single_bit(threads)) refuse("Number of register threads has to be power of 2 ");
  if (threads > kMostThreads) {
    refuse(
        fmt::format("Number of register threads should be less than or equal to {}", kMostThreads));
  }
  state.settings.pinned_num_register_threads = threads;
}

// Of the device's memory that the process may take: set_per_process_memory_fraction, from the
// start.
void parse_memory_fraction(ParseState& state) {
  constexpr std::string_view kKey = "per_process_memory_fraction";
  state.tokens.expect(":");
  const auto fraction = number_in<double>(
      state.tokens.take_value("Error, expecting per_process_memory_fraction value"), kKey);
  if (!(fraction >= 0 && fraction <= 1)) {
    refuse("per_process_memory_fraction is invalid, set it in [0.0, 1.0]");
  }
  state.settings.memory_fraction = fraction;
}

struct SettingRow {
  std::string_view key;
  void (*parse)(ParseState&);
  bool is_later = false;  ///< than PyTorch 2.6: RuleSet::has_later_settings
};
constexpr std::array<SettingRow, 11> kSettings = {
    {{"max_split_size_mb", parse_max_split_size},
     {"max_non_split_rounding_mb", parse_max_non_split_rounding},
     {"garbage_collection_threshold", parse_garbage_collection_threshold},
     {"roundup_power2_divisions", parse_roundup_power2_divisions},
     {"backend", parse_backend},
     {"expandable_segments", parse_expandable_segments},
     {"release_lock_on_cudamalloc", parse_release_lock},
     {"pinned_use_cuda_host_register", parse_pinned_host_register},
     {"pinned_num_register_threads", parse_pinned_register_threads},
     {"pinned_use_background_threads", parse_pinned_background_threads},
     {"per_process_memory_fraction", parse_memory_fraction, true}}};

const SettingRow& row_of(std::string_view key, const RuleSet& rules) {
  for (const SettingRow& row : kSettings) {
    if (row.key == key && (rules.has_later_settings || !row.is_later)) return row;
  }
  if (rules.has_later_settings) {
    refuse(fmt::format("Unrecognized key '{}' in Accelerator allocator config.", key));
  }
  refuse(fmt::format("Unrecognized CachingAllocator option: {}", key));
}

}  // namespace

AllocatorSettings parse_settings(std::string_view text, const RuleSet& rules,
                                 const AllocatorSettings& previous) {
  const AllocatorSettings defaults;
  ParseState state = {Tokens(text), rules, previous};
  state.settings.text = text;
  state.settings.max_split_size_bytes = defaults.max_split_size_bytes;
  state.settings.garbage_collection_threshold = defaults.garbage_collection_threshold;
  state.settings.roundup_power2_divisions = defaults.roundup_power2_divisions;
  while (!state.tokens.at_end()) {
    row_of(state.tokens.take(), rules).parse(state);
    if (!state.tokens.at_end()) state.tokens.expect(",");
  }
  return state.settings;
}

}  // namespace ohm
