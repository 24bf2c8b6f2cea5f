#include "harness/judge/scenario_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/base/nearest_name.h"
#include "allocator_shim/caching/settings.h"
#include "allocator_shim/device/gpu_profile.h"
#include "allocator_shim/fault/fault_plan.h"
#include "harness/judge/equivalence.h"
#include "harness/judge/tolerance.h"
#include "harness/scenario/script_errors.h"

namespace ohm::engine {

namespace {

/// Names can stand in limits and on a command line without quotes.
bool is_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), is_allowed);
}

/// Whether this role says something about a problem, and so has to have one.
bool belongs_to_problem(Role role) {
  return role == Role::mitigation || role == Role::partial || role == Role::non_fix;
}

/// Whether its role asks for equal values, or for other ones: a non-fix fails by limits where it
/// does not say otherwise, and a trade may agree in what is not a value.
bool compares_values(const VariantDescription& variant) {
  if (variant.role == Role::non_fix) return !variant.must_differ.empty();
  return variant.trades.empty() ||
         std::any_of(variant.must_agree.begin(), variant.must_agree.end(), is_of_values);
}

class Validator {
 public:
  explicit Validator(ScenarioDescription& scenario)
      : scenario_(scenario), most_gpus_(scenario.gpu.count) {
    for (const VariantDescription& variant : scenario_.variants) {
      if (variant.gpu) most_gpus_ = std::max(most_gpus_, variant.gpu->count);
      names_.push_back(variant.name);
      ++variants_of_name_[variant.name];
      if (variant.role == Role::problem) problems_.push_back(variant.name);
    }
  }

  void run() {
    check_scenario();
    for (VariantDescription& variant : scenario_.variants) check_variant(variant);
  }

 private:
  [[noreturn]] void refuse(int line, const std::string& why, const std::string& hint = {}) const {
    throw script_error_at(scenario_.file, line, why, hint);
  }
  [[noreturn]] void refuse(const VariantDescription& variant, const std::string& why,
                           const std::string& hint = {}) const {
    refuse(variant.line > 0 ? variant.line : scenario_.line,
           fmt::format("variant \"{}\": {}", variant.name, why), hint);
  }

  void check_scenario() const {
    if (!is_name(scenario_.name)) {
      refuse(scenario_.line, fmt::format("\"{}\" is not a valid scenario name", scenario_.name),
             "a name is made of letters, digits and underscores");
    }
    const bool has_subject = std::any_of(scenario_.variants.begin(), scenario_.variants.end(),
                                         [](const VariantDescription& v) {
                                           return v.role == Role::problem || v.role == Role::check;
                                         });
    if (!has_subject) {
      refuse(scenario_.line, "a scenario needs a problem or a check",
             "add problems = {name = function(device) ... end}");
    }
    check_gpu(scenario_.line, scenario_.gpu);
    for (const std::string& text : scenario_.limits) check_limit(scenario_.line, text);
    if (!scenario_.reference.empty()) check_known(scenario_.line, "reference", scenario_.reference);
  }

  void check_gpu(int line, const GpuSpec& gpu) const {
    std::size_t context_bytes = 0;
    try {
      context_bytes = find_gpu_profile(gpu.profile).context_bytes;
      parse_settings(gpu.alloc_conf.value_or(""), rule_set_or_default(gpu.rules));
    } catch (const std::invalid_argument& wrong) {
      refuse(line, wrong.what());
    }
    if (gpu.count < 1 || gpu.count > kMaxGpuCount) {
      refuse(line, fmt::format("gpu.count is {}, it can be 1 to {}", gpu.count, kMaxGpuCount));
    }
    if (gpu.capacity_bytes && *gpu.capacity_bytes == 0) refuse(line, "gpu.capacity is 0");
    if (gpu.capacity_bytes && *gpu.capacity_bytes <= context_bytes) {
      refuse(line, fmt::format(
                       "gpu.capacity is {}, which leaves nothing beside the context of {}: {}",
                       human_bytes(*gpu.capacity_bytes), gpu.profile, human_bytes(context_bytes)));
    }
  }

  void check_known(int line, std::string_view field, const std::string& name) const {
    if (variants_of_name_.contains(name)) return;
    refuse(line, fmt::format("{} names \"{}\", which is not a variant{}", field, name,
                             did_you_mean(name, names_)));
  }

  void check_variant(VariantDescription& variant) const {
    check_name(variant);
    resolve_problem(variant);
    check_comparison(variant);
    if (variant.gpu) check_gpu(variant.line, *variant.gpu);
    check_fault(variant);
    if (variant.raises && variant.role != Role::check) {
      refuse(variant, "only a check can say what it raises");
    }
    check_returns(variant);
    if (variant.raises && variant.raises->empty()) {
      refuse(variant, "raises is empty: any error would pass",
             "name a part of the message that the check must end with");
    }
    check_limits(variant);
  }

  void check_returns(const VariantDescription& variant) const {
    if (!variant.returns) return;
    if (variant.role != Role::check) refuse(variant, "only a check can say what it returns");
    if (variant.raises) refuse(variant, "a check that raises returns nothing");
    if (variant.returns->empty()) {
      refuse(variant, "returns is empty: any result would pass",
             "name what the check must return: returns = {device = \"cuda:1\"}");
    }
  }

  void check_name(const VariantDescription& variant) const {
    if (!is_name(variant.name)) {
      refuse(variant, "this is not a valid variant name",
             "a name is made of letters, digits and underscores");
    }
    if (variants_of_name_.at(variant.name) > 1) {
      refuse(variant, "several variants have this name", "give each a name of its own");
    }
    for (std::size_t i = 0; i < kRoleNames.size(); ++i) {
      const bool is_role =
          kRoleNames[i].name == variant.name || kRoleNames[i].group == variant.name;
      if (is_role && variant.role != static_cast<Role>(i)) {
        refuse(variant, "this is the name of another role, --case could not tell them apart");
      }
    }
  }

  void resolve_problem(VariantDescription& variant) const {
    if (variant.role == Role::problem) {
      if (!variant.of.empty()) refuse(variant, "a problem belongs to no other (field \"of\")");
      return;
    }
    if (variant.of.empty() && problems_.size() == 1) variant.of = problems_.front();
    if (variant.of.empty()) {
      if (!belongs_to_problem(variant.role)) return;
      refuse(variant,
             problems_.empty() ? "there is no problem for it to belong to"
                               : "it must say which problem it belongs to",
             problems_.empty() ? "" : fmt::format("add of = \"{}\"", problems_.front()));
    }
    if (std::find(problems_.begin(), problems_.end(), variant.of) == problems_.end()) {
      refuse(variant, fmt::format("of = \"{}\" does not name a problem{}", variant.of,
                                  did_you_mean(variant.of, problems_)));
    }
  }

  void check_comparison(const VariantDescription& variant) const {
    if (!variant.reference.empty()) check_known(variant.line, "reference", variant.reference);
    const std::string& reference =
        variant.reference.empty() ? scenario_.reference : variant.reference;
    if (belongs_to_problem(variant.role) && reference == variant.name) {
      refuse(variant, "its reference is the variant itself: its values would agree with any",
             "name a variant whose values are right");
    }
    check_reference(variant);
    if (variant.trades.empty() != variant.must_agree.empty()) {
      refuse(
          variant, "trades and must_agree belong together",
          "say what it changes, and what must still agree: must_agree = {\"steps\", \"finite\"}");
    }
    const std::vector<std::string>& agree = variant.must_agree;
    if (!agree.empty() && std::none_of(agree.begin(), agree.end(), shows_work)) {
      refuse(
          variant,
          fmt::format("must_agree = {{{}}}: nothing of it shows that the work was done",
                      fmt::join(agree, ", ")),
          "add \"steps\", or a value that it returns: must_agree = {\"samples_seen\", \"finite\"}");
    }
    check_failure(variant);
    if (variant.compare_as.empty()) return;
    try {
      tolerance_of(variant.compare_as);
    } catch (const std::invalid_argument& unknown) {
      refuse(variant, fmt::format("compare_as: {}", unknown.what()));
    }
  }

  /// What its values are compared with, as far as that is another variant.
  const VariantDescription* compared_with(const VariantDescription& variant) const {
    const std::string& own = variant.reference.empty() ? scenario_.reference : variant.reference;
    return belongs_to_problem(variant.role)
               ? find_variant(scenario_, own.empty() ? variant.of : own)
               : nullptr;
  }

  /// References that lead back to where they began agree with each other, whatever they compute;
  /// and where only one of two keeps values there is nothing to compare.
  void check_reference(const VariantDescription& variant) const {
    const VariantDescription* const reference = compared_with(variant);
    const VariantDescription* next = reference;
    for (std::size_t i = 0; next != nullptr && i < scenario_.variants.size(); ++i) {
      next = compared_with(*next);
      if (next != &variant) continue;
      refuse(variant,
             fmt::format("its reference {} is itself compared with it: their values would agree "
                         "with any",
                         reference->name),
             "name a variant whose values are right");
    }
    const auto keeps_values = [this](const VariantDescription& one) {
      return (one.gpu ? *one.gpu : scenario_.gpu).values;
    };
    if (reference == nullptr || keeps_values(*reference) == keeps_values(variant)) return;
    if (!compares_values(variant)) return;
    refuse(variant,
           fmt::format("only one of it and its reference {} has a gpu with values: nothing that "
                       "it computes could be compared",
                       reference->name),
           "give both the same gpu.values");
  }

  void check_failure(const VariantDescription& variant) const {
    const bool says_how = !variant.must_break.empty() || !variant.must_differ.empty();
    if (says_how && variant.role != Role::non_fix) {
      refuse(variant, "only a non-fix says what it must_break, or what must_differ");
    }
    if (!variant.must_break.empty() && !variant.must_differ.empty()) {
      refuse(variant, "a non-fix must_break limits, or its values must_differ: not both");
    }
    for (const std::string& name : variant.must_break) {
      if (name == kOomWord) continue;
      try {
        const Measurement& known = find_measurement(name);
        const std::vector<Limit> limits = limits_of(scenario_, variant);
        const bool has_limit = std::any_of(limits.begin(), limits.end(), [&](const Limit& limit) {
          return limit.measurement == &known;
        });
        if (!has_limit)
          refuse(variant, fmt::format("must_break: no limit on it is about {}", name));
      } catch (const std::invalid_argument& unknown) {
        refuse(variant, fmt::format("must_break: {}", unknown.what()),
               "it names measurements of limits, or \"oom\"");
      }
    }
  }

  void check_fault(const VariantDescription& variant) const {
    if (variant.fault.empty()) return;
    try {
      FaultPlan::parse(variant.fault);
    } catch (const std::invalid_argument& wrong) {
      refuse(variant, wrong.what(), "ohm list --faults prints what a plan is made of");
    }
  }

  void check_limits(const VariantDescription& variant) const {
    for (const std::string& text : variant.limits) check_limit(variant.line, text);
    const std::vector<Limit> limits = limits_of(scenario_, variant);
    for (const Limit& limit : limits) {
      const bool needs_problem = limit.refers_to(kProblemWord) && variant.role != Role::problem;
      if (!needs_problem || !variant.of.empty()) continue;
      refuse(variant, fmt::format("limit \"{}\": it belongs to no problem", limit.text),
             "add of = \"<problem>\"");
    }
    if (variant.role == Role::reference) {
      if (!variant.limits.empty()) refuse(variant, "a reference is not judged, it has no limits");
      return;
    }
    if (variant.raises || variant.returns || !limits.empty()) return;
    if (variant.role == Role::check) {
      refuse(variant, "a check needs limits of its own, what it returns or an error that it raises",
             R"(add limits = {"..."}, returns = {name = value} or raises = "...")");
    }
    refuse(variant, "no limit applies to it",
           "add a limit with a bound that is not relative to the variant itself");
  }

  void check_limit(int line, const std::string& text) const {
    Limit limit;
    try {
      limit = parse_limit(text);
    } catch (const std::invalid_argument& wrong) {
      refuse(line, wrong.what(), "ohm list --measurements prints what a limit can be about");
    }
    if (limit.gpu && *limit.gpu >= most_gpus_) {
      refuse(line, fmt::format("limit \"{}\": there is no cuda:{}, gpu.count is {}", text,
                               *limit.gpu, most_gpus_));
    }
    for (const BoundTerm& term : limit.bound) {
      if (term.variant.empty() || term.variant == kProblemWord) continue;
      check_known(line, fmt::format("limit \"{}\"", text), term.variant);
    }
  }

  ScenarioDescription& scenario_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> variants_of_name_;
  std::vector<std::string> problems_;
  int most_gpus_;  ///< that any variant runs on
};

void index_by_name(ScenarioDescription& scenario) {
  const std::vector<VariantDescription>& variants = scenario.variants;
  std::vector<std::size_t>& by_name = scenario.variants_by_name;
  by_name.resize(variants.size());
  std::iota(by_name.begin(), by_name.end(), std::size_t{0});
  std::sort(by_name.begin(), by_name.end(),
            [&](std::size_t a, std::size_t b) { return variants[a].name < variants[b].name; });
}

}  // namespace

ScenarioDescription validated(ScenarioDescription scenario) {
  index_by_name(scenario);
  Validator(scenario).run();
  std::stable_sort(scenario.variants.begin(), scenario.variants.end(),
                   [](const VariantDescription& a, const VariantDescription& b) {
                     return std::tie(a.role, a.line, a.name) < std::tie(b.role, b.line, b.name);
                   });
  index_by_name(scenario);
  return scenario;
}

std::string resolved_name(const VariantDescription& variant, const std::string& name) {
  if (name != kProblemWord) return name;
  return variant.role == Role::problem ? variant.name : variant.of;
}

std::vector<Limit> limits_of(const ScenarioDescription& scenario,
                             const VariantDescription& variant) {
  std::vector<Limit> limits;
  const auto add = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      Limit limit = parse_limit(text);
      const bool relative_to_itself =
          std::any_of(limit.bound.begin(), limit.bound.end(), [&](const BoundTerm& term) {
            return !term.variant.empty() && resolved_name(variant, term.variant) == variant.name;
          });
      if (!relative_to_itself) limits.push_back(std::move(limit));
    }
  };
  if (variant.role == Role::reference) return limits;
  if (variant.role != Role::check) {
    add(scenario.limits);
    const VariantDescription* const problem = find_variant(scenario, variant.of);
    if (problem != nullptr) add(problem->limits);
  }
  add(variant.limits);
  return limits;
}

const VariantDescription* find_variant(const ScenarioDescription& scenario,
                                       const std::string& name) {
  const std::vector<std::size_t>& by_name = scenario.variants_by_name;
  const auto found = std::lower_bound(
      by_name.begin(), by_name.end(), name,
      [&](std::size_t at, const auto& wanted) { return scenario.variants[at].name < wanted; });
  if (found == by_name.end() || scenario.variants[*found].name != name) return nullptr;
  return &scenario.variants[*found];
}

}  // namespace ohm::engine
