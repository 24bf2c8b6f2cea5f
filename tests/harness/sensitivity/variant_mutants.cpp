#include "tests/harness/sensitivity/variant_mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "harness/judge/scenario_validation.h"
#include "tests/harness/sensitivity/mutations.h"
#include "tests/harness/sensitivity/table_patch.h"

namespace ohm::test {

using engine::ScenarioDescription;
using engine::VariantDescription;

namespace {

/// A function of a result that changes each of its values, `v`, tables within it included.
std::string each_value(const char* change) {
  return fmt::format(
      "local function each(v) if type(v) ~= 'table' then {} return v end "
      "for k, one in pairs(v) do v[k] = each(one) end return v end ",
      change);
}

constexpr const char* kCoarse =
    "if ohm.is_tensor(v) then return v:is_floating_point() and v:bfloat16() or v end "
    "if math.type(v) == 'float' then return ohm.tensor(v):bfloat16() end";
constexpr const char* kWrong =
    "if ohm.is_tensor(v) then return v:is_floating_point() and v:detach() * 1.0625 or v end "
    "if math.type(v) == 'integer' then return v + 1 end "
    "if math.type(v) == 'float' then return v * 1.0625 end";
constexpr const char* kZero =
    "if ohm.is_tensor(v) then return ohm.zeros_like(v) end "
    "if type(v) == 'number' then return v - v end";
constexpr const char* kDoubled =
    "if ohm.is_tensor(v) then return v:is_floating_point() and v:detach() * 2 or v end "
    "if type(v) == 'number' then return v * 2 end";

bool has_to_compute_the_same(const VariantDescription& variant) {
  return variant.role == Role::mitigation || variant.role == Role::partial;
}

class VariantMutants {
 public:
  VariantMutants(std::string_view source, const ScenarioDescription& scenario)
      : source_(source), scenario_(scenario) {}

  std::vector<SourceMutant> take() {
    each(&VariantMutants::add_nothing);
    for (const Mutation& mutation : mutations_of(scenario_)) {
      if (!mutation.body.empty()) add_swap(mutation);
    }
    each(&VariantMutants::add_huge_request);
    each(&VariantMutants::add_results);
    each(&VariantMutants::add_comparisons);
    each(&VariantMutants::add_other_fixes);
    each(&VariantMutants::add_roles);
    return std::move(mutants_);
  }

 private:
  void each(void (VariantMutants::*add)(const VariantDescription& variant)) {
    for (const VariantDescription& variant : scenario_.variants) {
      if (variant.role != Role::reference) (this->*add)(variant);
    }
  }

  static std::string place(const VariantDescription& variant) {
    return fmt::format("{}.{}", variants_in_table(variant.role), variant.name);
  }

  void add(const char* kind, const VariantDescription& variant, const std::string& where,
           const std::string& statements) {
    mutants_.push_back(
        {kind, where, with_patched_table(source_, statements), judged_by(scenario_, variant.name)});
  }

  /// `function` may call the variant's own function, `body`.
  void add_body(const char* kind, const VariantDescription& variant, const std::string& where,
                const std::string& function) {
    add(kind, variant, where,
        fmt::format("local v = {0}; local body = type(v) == 'table' and v.run or v; "
                    "local changed = {1}; "
                    "if type(v) == 'table' then v.run = changed else {0} = changed end;",
                    place(variant), function));
  }
  void add_result(const char* kind, const VariantDescription& variant, const char* change) {
    add_body(kind, variant, variant.name,
             fmt::format("function(d) {} return each(body(d)) end", each_value(change)));
  }

  void add_nothing(const VariantDescription& variant) {
    add_body("does nothing", variant, variant.name, "function() end");
  }

  /// Where what helps is a setting of the allocator and not the function, that changes too.
  void add_swap(const Mutation& mutation) {
    const VariantDescription& variant = *engine::find_variant(scenario_, mutation.variant);
    const VariantDescription& other = *engine::find_variant(scenario_, mutation.body);
    const auto settings = [&](const VariantDescription& of) {
      return of.gpu.value_or(scenario_.gpu).alloc_conf;
    };
    const bool with_gpu = settings(variant) != settings(other);
    add("swapped body", variant, fmt::format("{} as {}", variant.name, other.name),
        fmt::format("local v, o = {0}, {1}; if type(v) ~= 'table' then v = {{run = v}} end; "
                    "v.run = type(o) == 'table' and o.run or o; "
                    "if {2} then v.gpu = type(o) == 'table' and o.gpu or nil end; {0} = v;",
                    place(variant), place(other), with_gpu));
  }

  void add_huge_request(const VariantDescription& variant) {
    const bool may_run_out = variant.role == Role::problem || variant.role == Role::partial ||
                             variant.role == Role::non_fix;
    if (!may_run_out) return;
    add_body("one huge request", variant, variant.name,
             "function() ohm.empty(1 << 40, {device = \"cuda:0\"}) end");
  }

  void add_results(const VariantDescription& variant) {
    if (!has_to_compute_the_same(variant)) return;
    if (variant.trades.empty()) {
      if (variant.compare_as != "bfloat16") add_result("coarse result", variant, kCoarse);
      add_result("wrong result", variant, kWrong);
    }
    add_result("zero result", variant, kZero);
    add_body("value left out", variant, variant.name,
             "function(d) local values = body(d); local names = {}; "
             "for name in pairs(values) do names[#names + 1] = name end; table.sort(names); "
             "values[names[1]] = nil; return values end");
    add_body("extra value", variant, variant.name,
             "function(d) local values = body(d); values.extra = 1; return values end");
  }

  void add_comparisons(const VariantDescription& variant) {
    if (has_to_compute_the_same(variant) && variant.compare_as != "bfloat16") {
      add("coarse comparison", variant, variant.name,
          fmt::format("local v = {0}; if type(v) ~= 'table' then v = {{run = v}} end; "
                      "v.compare_as = 'bfloat16'; {0} = v;",
                      place(variant)));
    }
    add_left_out(variant, "must_agree", variant.must_agree);
    add_left_out(variant, "must_differ", variant.must_differ);
  }
  void add_left_out(const VariantDescription& variant, const char* field,
                    const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      add("agreement left out", variant, fmt::format("{}: {}", variant.name, names[i]),
          fmt::format("local v = {0}; v.{1} = {{table.unpack(v.{1})}}; table.remove(v.{1}, {2});",
                      place(variant), field, i + 1));
    }
  }

  void add_other_fixes(const VariantDescription& variant) {
    if (variant.role != Role::non_fix) return;
    for (const VariantDescription& other : scenario_.variants) {
      if (other.role != Role::mitigation || other.of != variant.of) continue;
      add("fixes otherwise", variant, fmt::format("{} as {}", variant.name, other.name),
          fmt::format("local v, o = {0}, {1}; if type(v) ~= 'table' then v = {{run = v}} end; "
                      "local fix = type(o) == 'table' and o.run or o; "
                      "if type(o) == 'table' then v.gpu = o.gpu or v.gpu end; "
                      "v.run = function(d) {2} return each(fix(d)) end; {0} = v;",
                      place(variant), place(other), each_value(kDoubled)));
    }
  }

  void add_roles(const VariantDescription& variant) {
    switch (variant.role) {
      case Role::mitigation:
        add_role(variant, Role::non_fix);
        add_role(variant, Role::partial);
        break;
      case Role::partial:
      case Role::non_fix:
        add_role(variant, Role::mitigation);
        break;
      case Role::control:
        add_role(variant, Role::problem);
        break;
      case Role::problem:
      case Role::check:
      case Role::reference:
        break;
    }
  }
  /// Others that belonged to the only problem still do.
  void add_role(const VariantDescription& variant, Role role) {
    const std::string to = variants_in_table(role);
    std::string statements = fmt::format("{0} = {0} or {{}}; {0}.{1} = {2}; {2} = nil;", to,
                                         variant.name, place(variant));
    if (role == Role::problem) {
      statements += fmt::format(" local v = {0}.{1}; if type(v) == 'table' then v.of = nil end;",
                                to, variant.name) +
                    belonging_statements();
    }
    add("other role", variant, fmt::format("{} as a {}", variant.name, name_of(role)), statements);
  }
  /// With a second problem each variant has to say which one it belongs to.
  std::string belonging_statements() const {
    std::string statements;
    for (const VariantDescription& variant : scenario_.variants) {
      const bool belongs = variant.role == Role::mitigation || variant.role == Role::partial ||
                           variant.role == Role::non_fix;
      if (!belongs) continue;
      statements +=
          fmt::format(" if type({0}) ~= 'table' then {0} = {{run = {0}}} end; {0}.of = '{1}';",
                      place(variant), variant.of);
    }
    return statements;
  }

  std::string_view source_;
  const ScenarioDescription& scenario_;
  std::vector<SourceMutant> mutants_;
};

}  // namespace

std::vector<SourceMutant> variant_mutants(std::string_view source,
                                          const ScenarioDescription& scenario) {
  return VariantMutants(source, scenario).take();
}

}  // namespace ohm::test
