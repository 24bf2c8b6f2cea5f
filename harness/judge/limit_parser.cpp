#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "allocator_shim/base/format_bytes.h"
#include "harness/judge/limit.h"

namespace ohm::engine {

namespace {

struct ComparatorSpelling {
  std::string_view text;
  Comparator comparator;
};

// The longer spellings first: "<=" is not "<" and something.
constexpr std::array<ComparatorSpelling, 6> kComparators = {{{"<=", Comparator::less_equal},
                                                             {"==", Comparator::equal},
                                                             {"!=", Comparator::not_equal},
                                                             {">=", Comparator::greater_equal},
                                                             {"<", Comparator::less},
                                                             {">", Comparator::greater}}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class LimitParser {
 public:
  explicit LimitParser(std::string_view text) : text_(text), rest_(text) {}

  Limit parse() {
    Limit limit;
    limit.text = std::string(text_);
    limit.measurement = &measurement();
    unit_ = limit.measurement->unit;
    limit.gpu = gpu_index(*limit.measurement);
    limit.comparator = comparator();
    limit.bound.push_back(product(1));
    while (!at_end()) {
      const bool minus = accept("-");
      if (!minus && !accept("+")) refuse(fmt::format("\"{}\" is not understood", rest_));
      limit.bound.push_back(product(minus ? -1 : 1));
    }
    return limit;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::invalid_argument(fmt::format("limit \"{}\": {}", text_, why));
  }

  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
  }

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

  bool accept(std::string_view token) {
    skip_blanks();
    if (rest_.substr(0, token.size()) != token) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  /// A name of letters, digits and underscores; empty when there is none.
  std::string_view name() {
    skip_blanks();
    std::size_t length = 0;
    while (length < rest_.size() &&
           (is_letter(rest_[length]) || (length > 0 && is_digit(rest_[length])))) {
      ++length;
    }
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }

  const Measurement& measurement() {
    const std::string_view taken = name();
    if (taken.empty()) refuse("it must begin with a measurement");
    try {
      return find_measurement(taken);
    } catch (const std::invalid_argument& unknown) {
      refuse(unknown.what());
    }
  }

  std::optional<int> gpu_index(const Measurement& measurement) {
    if (!accept("[")) return std::nullopt;
    if (!measurement.has_index) refuse(fmt::format("{} has no device", measurement.name));
    int index = 0;
    if (!accept("cuda:")) refuse("a device is written [cuda:0]");
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), index);
    if (error != std::errc() || index < 0) refuse("a device is written [cuda:0]");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (!accept("]")) refuse("a device is written [cuda:0]");
    return index;
  }

  Comparator comparator() {
    for (const ComparatorSpelling& spelling : kComparators) {
      if (accept(spelling.text)) return spelling.comparator;
    }
    refuse(at_end() ? "a comparison is missing (<, <=, ==, !=, >=, >)"
                    : fmt::format("\"{}\" is not a comparison (<, <=, ==, !=, >=, >)", rest_));
  }

  BoundTerm product(double sign) {
    BoundTerm term{sign, {}};
    do {
      multiply(term);
    } while (accept("*"));
    return term;
  }

  void multiply(BoundTerm& term) {
    if (at_end()) refuse("a number or a variant is missing");
    if (is_digit(rest_.front()) || rest_.front() == '.') {
      term.factor *= number();
      return;
    }
    const std::string_view variant = name();
    if (variant.empty()) refuse(fmt::format("\"{}\" is neither a number nor a variant", rest_));
    if (!term.variant.empty()) refuse("a product of two variants has no meaning");
    term.variant = std::string(variant);
  }

  double number() {
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) {
      refuse(fmt::format("\"{}\" is not a number", rest_));
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    const std::string_view unit = name();
    if (unit.empty()) return measurable(value);
    if (unit_ != Unit::bytes) refuse(fmt::format("the measurement is not in bytes: {}", unit));
    return measurable(std::floor(value * bytes_of(unit)));
  }

  /// What no figure comes to cannot be meant: it is a slip, and would hold for ever.
  double measurable(double value) const {
    constexpr double kMost = 9223372036854775808.0;  // 2^63
    if (value >= kMost) refuse("its bound is more than any measurement can be (8 EiB)");
    return value;
  }

  double bytes_of(std::string_view unit) const {
    try {
      return static_cast<double>(parse_bytes(fmt::format("1 {}", unit)));
    } catch (const std::invalid_argument&) {
      refuse(
          fmt::format("\"{}\" is not a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB); "
                      "a multiple of a variant is written 0.6 * {}",
                      unit, unit));
    }
  }

  std::string_view text_;
  std::string_view rest_;
  Unit unit_ = Unit::bytes;  ///< of the measurement
};

}  // namespace

Limit parse_limit(std::string_view text) { return LimitParser(text).parse(); }

}  // namespace ohm::engine
