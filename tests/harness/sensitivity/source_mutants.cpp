#include "tests/harness/sensitivity/source_mutants.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <regex>
#include <stdexcept>

#include "harness/judge/limit.h"

namespace ohm::test {

using engine::Comparator;
using engine::ScenarioDescription;
using engine::VariantDescription;

namespace {

std::vector<std::string> lines_of(std::string_view source) {
  std::vector<std::string> lines(1);
  for (const char c : source) {
    lines.back() += c;
    if (c == '\n') lines.emplace_back();
  }
  return lines;
}

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \n");
  const std::size_t last = line.find_last_not_of(" \n");
  return first == std::string::npos ? "" : line.substr(first, last - first + 1);
}

/// The table of ohm.scenario{...} that variants of this role stand in.
std::string_view table_of(Role role) {
  constexpr std::array<std::string_view, kRoleNames.size()> kTables = {
      "problems", "mitigations", "partials", "non_fixes", "controls", "checks", "references"};
  return kTables[static_cast<std::size_t>(role)];
}

/// The limit with a bound that allows more; nullopt where that has no meaning.
std::optional<std::string> laxer(const std::string& text, double factor, std::size_t bytes) {
  const engine::Limit limit = engine::parse_limit(text);
  const bool is_in_bytes = limit.measurement->unit == Unit::bytes;
  if (bytes > 0 && !is_in_bytes) return std::nullopt;
  std::string comparison;
  switch (limit.comparator) {
    case Comparator::less:
    case Comparator::less_equal:
      comparison = limit.comparator == Comparator::less ? "<" : "<=";
      break;
    case Comparator::equal:
      comparison = "<=";
      break;
    case Comparator::greater:
    case Comparator::greater_equal:
      comparison = limit.comparator == Comparator::greater ? ">" : ">=";
      factor = 1 / factor;
      if (bytes > 0) return std::nullopt;
      break;
    case Comparator::not_equal:
      return std::nullopt;
  }
  std::string bound;
  for (const engine::BoundTerm& term : limit.bound) {
    const double scaled = std::abs(term.factor) * factor;
    bound += fmt::format("{}{:.17g}{}",
                         bound.empty()     ? ""
                         : term.factor < 0 ? " - "
                                           : " + ",
                         scaled, term.variant.empty() ? "" : " * " + term.variant);
  }
  if (bytes > 0) bound += fmt::format(" + {}", bytes);
  const std::string index = limit.gpu ? fmt::format("[cuda:{}]", *limit.gpu) : "";
  return fmt::format("{}{} {} {}", limit.measurement->name, index, comparison, bound);
}

class MutantList {
 public:
  MutantList(std::string_view source, const ScenarioDescription& scenario)
      : source_(source), lines_(lines_of(source)), scenario_(scenario) {}

  std::vector<SourceMutant> take() {
    add_lines("removed step", std::regex(R"(^\s*[\w.:\[\]#]+[:.](step|backward)\(.*\)\s*$)"), "");
    const std::regex result(R"(^\s+(return) \{.*\}\s*$)");
    add_lines("constant result", result, "return {loss = 0}");
    add_constant_results(result);
    add_lines("no result", result, "return");
    for (const VariantDescription& variant : scenario_.variants) add_variant(variant);
    for (std::size_t i = 0; i < scenario_.limits.size(); ++i) {
      add_limit("scenario", "t.limits", i, scenario_.limits[i]);
    }
    return std::move(mutants_);
  }

 private:
  /// Each line that matches is replaced.
  void add_lines(const char* kind, const std::regex& pattern, const std::string& replacement) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!std::regex_search(trimmed_end(lines_[i]), pattern)) continue;
      std::vector<std::string> lines = lines_;
      lines[i] = replacement + "\n";
      mutants_.push_back({kind, trimmed(lines_[i]), fmt::format("{}", fmt::join(lines, ""))});
    }
  }
  void add_constant_results(const std::regex& pattern) {
    std::vector<std::string> lines = lines_;
    for (std::string& line : lines) {
      if (std::regex_search(trimmed_end(line), pattern)) line = "return {loss = 0}\n";
    }
    if (lines == lines_) return;
    mutants_.push_back({"constant results", "all", fmt::format("{}", fmt::join(lines, ""))});
  }
  static std::string trimmed_end(const std::string& line) {
    return line.substr(0, line.find('\n'));
  }

  void add_variant(const VariantDescription& variant) {
    if (variant.role == Role::reference) return;
    add_body("does nothing", variant, "function() end");
    const bool may_fail = variant.role == Role::problem || variant.role == Role::partial ||
                          variant.role == Role::non_fix;
    if (may_fail) {
      add_body("one huge request", variant,
               "function() ohm.empty(1 << 40, {device = \"cuda:0\"}) end");
    }
    const bool computes_the_same =
        variant.role == Role::mitigation || variant.role == Role::partial;
    if (computes_the_same && variant.trades.empty() && variant.compare_as != "bfloat16") {
      add_body("coarse result", variant,
               "function(d) local function coarse(v) "
               "if ohm.is_tensor(v) then return v:is_floating_point() and v:bfloat16() or v end "
               "if math.type(v) == 'float' then return ohm.tensor(v):bfloat16() end "
               "if type(v) ~= 'table' then return v end "
               "for k, one in pairs(v) do v[k] = coarse(one) end return v end "
               "return coarse(body(d)) end");
    }
    if (variant.role != Role::problem) return;
    for (std::size_t i = 0; i < variant.limits.size(); ++i) {
      add_limit(variant.name, fmt::format("t.problems.{}.limits", variant.name), i,
                variant.limits[i]);
    }
  }

  /// `function` may call the variant's own function, `body`.
  void add_body(const char* kind, const VariantDescription& variant, const std::string& function) {
    const std::string place = fmt::format("t.{}.{}", table_of(variant.role), variant.name);
    add_patch(kind, variant.name,
              fmt::format("local v = {0}; local body = type(v) == 'table' and v.run or v; "
                          "local changed = {1}; "
                          "if type(v) == 'table' then v.run = changed else {0} = changed end",
                          place, function));
  }

  void add_limit(const std::string& owner, const std::string& list, std::size_t index,
                 const std::string& text) {
    const auto add = [&](const char* kind, const std::optional<std::string>& changed) {
      if (!changed) return;
      add_patch(kind, owner + ": " + text, fmt::format("{}[{}] = '{}'", list, index + 1, *changed));
    };
    add("limit times 10", laxer(text, 10, 0));
    add("limit plus 512", laxer(text, 1, 512));
  }

  /// The file's last call goes through a function that changes its table, `t`, first.
  void add_patch(const char* kind, const std::string& where, const std::string& change) {
    constexpr std::string_view kCall = "return ohm.scenario {";
    const std::size_t at = source_.rfind(kCall);
    if (at == std::string::npos) throw std::runtime_error("the file does not end as others do");
    std::string source = source_;
    source.replace(at, kCall.size(),
                   "return (function(t) " + change + "; return ohm.scenario(t) end) {");
    mutants_.push_back({kind, where, std::move(source)});
  }

  std::string source_;
  std::vector<std::string> lines_;
  const ScenarioDescription& scenario_;
  std::vector<SourceMutant> mutants_;
};

}  // namespace

std::vector<SourceMutant> source_mutants(std::string_view source,
                                         const ScenarioDescription& scenario) {
  return MutantList(source, scenario).take();
}

}  // namespace ohm::test
