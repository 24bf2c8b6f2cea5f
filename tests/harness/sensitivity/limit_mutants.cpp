#include "tests/harness/sensitivity/limit_mutants.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "harness/judge/limit.h"
#include "tests/harness/sensitivity/table_patch.h"

namespace ohm::test {

using engine::Comparator;
using engine::Limit;
using engine::ScenarioDescription;
using engine::VariantDescription;

namespace {

bool is_upper(Comparator comparator) {
  return comparator == Comparator::less || comparator == Comparator::less_equal ||
         comparator == Comparator::equal;
}

/// Its bound times a factor, plus some bytes; `==` becomes `<=` where it allows more.
std::string with_bound(const Limit& limit, double factor, int bytes) {
  std::string bound;
  for (const engine::BoundTerm& term : limit.bound) {
    const char* sign = bound.empty() ? "" : term.factor < 0 ? " - " : " + ";
    bound += fmt::format("{}{:.17g}{}", sign, std::abs(term.factor) * factor,
                         term.variant.empty() ? "" : " * " + term.variant);
  }
  if (bytes != 0) bound += fmt::format(" {} {}", bytes < 0 ? "-" : "+", std::abs(bytes));
  const char* comparison = limit.comparator == Comparator::less            ? "<"
                           : limit.comparator == Comparator::greater       ? ">"
                           : limit.comparator == Comparator::greater_equal ? ">="
                                                                           : "<=";
  const std::string index = limit.gpu ? fmt::format("[cuda:{}]", *limit.gpu) : "";
  return fmt::format("{}{} {} {}", limit.measurement->name, index, comparison, bound);
}

bool is_zero(const Limit& limit) { return limit.bound.size() == 1 && limit.bound[0].factor == 0; }

/// nullopt where ten times as much is as much, or has no meaning.
std::optional<std::string> times_ten(const Limit& limit) {
  if (is_zero(limit) || limit.comparator == Comparator::not_equal) return std::nullopt;
  return with_bound(limit, is_upper(limit.comparator) ? 10 : 0.1, 0);
}

std::optional<std::string> moved(const Limit& limit, int bytes) {
  if (limit.measurement->unit != Unit::bytes || !is_upper(limit.comparator)) return std::nullopt;
  return with_bound(limit, 1, bytes);
}

class LimitMutants {
 public:
  LimitMutants(std::string_view source, const ScenarioDescription& scenario)
      : source_(source), scenario_(scenario) {}

  std::vector<SourceMutant> take() {
    add_all("limit times 10", /*of_problems_alone=*/false, times_ten);
    add_all("limit plus 512", /*of_problems_alone=*/false,
            [](const Limit& limit) { return moved(limit, 512); });
    add_all("limit minus 512", /*of_problems_alone=*/true,
            [](const Limit& limit) { return moved(limit, -512); });
    add_all("limit left out", /*of_problems_alone=*/false,
            [](const Limit&) { return std::optional<std::string>(""); });
    return std::move(mutants_);
  }

 private:
  template <class Change>
  void add_all(const char* kind, bool of_problems_alone, const Change& change) {
    for (std::size_t i = 0; i < scenario_.limits.size(); ++i) {
      add(kind, "scenario", "t.limits", i, scenario_.limits[i], change, {});
    }
    for (const VariantDescription& variant : scenario_.variants) {
      if (of_problems_alone && variant.role != Role::problem) continue;
      const std::string list =
          fmt::format("{}.{}.limits", variants_in_table(variant.role), variant.name);
      for (std::size_t i = 0; i < variant.limits.size(); ++i) {
        add(kind, variant.name, list, i, variant.limits[i], change,
            judged_by(scenario_, variant.name));
      }
    }
  }

  /// Lists are copied: several variants may have the same one.
  template <class Change>
  void add(const char* kind, const std::string& owner, const std::string& list, std::size_t index,
           const std::string& text, const Change& change, std::vector<std::string> variants) {
    const std::optional<std::string> changed = change(engine::parse_limit(text));
    if (!changed) return;
    const std::string statement = changed->empty()
                                      ? fmt::format("table.remove({}, {});", list, index + 1)
                                      : fmt::format("{}[{}] = '{}';", list, index + 1, *changed);
    mutants_.push_back(
        {kind, owner + ": " + text,
         with_patched_table(source_,
                            fmt::format("{0} = {{table.unpack({0})}}; ", list) + statement),
         std::move(variants)});
  }

  std::string_view source_;
  const ScenarioDescription& scenario_;
  std::vector<SourceMutant> mutants_;
};

}  // namespace

std::vector<SourceMutant> limit_mutants(std::string_view source,
                                        const ScenarioDescription& scenario) {
  return LimitMutants(source, scenario).take();
}

}  // namespace ohm::test
