// What the tests of verdicts share: variants as if they had been measured, and a scenario that
// judges one of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "harness/judge/judge.h"
#include "harness/judge/scenario_validation.h"

namespace ohm::engine {

inline ReturnedValues returned_loss(double loss) {
  return {{"loss", {"float32", {}, {loss}, {}, true, {}}}};
}

inline MeasuredVariant completed(std::int64_t peak_bytes, double loss = 1) {
  MeasuredVariant measured;
  measured.outcome = Outcome::completed;
  measured.steps = 10;
  measured.devices.resize(1);
  measured.devices[0].device = "cuda:0";
  measured.devices[0].peak_allocated_bytes = peak_bytes;
  measured.values = returned_loss(loss);
  return measured;
}

inline MeasuredVariant out_of_memory(std::int64_t steps = 3, bool injected = false) {
  MeasuredVariant measured = completed(4000);
  measured.outcome = Outcome::oom;
  measured.steps = steps;
  measured.devices[0].num_ooms = 1;
  measured.values.clear();
  measured.oom = OomResult{};
  measured.oom->step = steps + 1;
  measured.oom->device = "cuda:0";
  measured.oom->requested_bytes = 2048;
  measured.oom->op = "linear";
  measured.oom->message = "CUDA out of memory. Tried to allocate 2.00 MiB.";
  measured.oom->injected = injected;
  return measured;
}

inline MeasuredVariant ended(Outcome outcome, const std::string& message) {
  MeasuredVariant measured;
  measured.outcome = outcome;
  measured.error = ErrorResult{message, {}, 0, {}, {}};
  return measured;
}

/// A scenario with one problem (4,000 bytes, limit 1,000) and one variant that is judged.
class Judged {
 public:
  explicit Judged(Role role) {
    scenario_.name = "leak";
    scenario_.file = "leak.lua";
    scenario_.limits = {"peak_allocated_bytes <= 1000"};
    add("summed", Role::problem);
    if (role != Role::problem) add("judged", role);
    problem_ = completed(4000);
  }

  VariantDescription& variant() { return scenario_.variants.back(); }
  ScenarioDescription& scenario() { return scenario_; }
  void add(const std::string& name, Role role) {
    VariantDescription variant;
    variant.name = name;
    variant.role = role;
    scenario_.variants.push_back(variant);
  }

  Judged& problem(MeasuredVariant measured) {
    problem_ = std::move(measured);
    return *this;
  }
  Judged& reference(const std::string& name, MeasuredVariant measured) {
    references_[name] = std::move(measured);
    return *this;
  }

  VariantResult by(const MeasuredVariant& measured) {
    const std::string name = variant().name;
    MeasuredScenario all{validated(scenario_), {{"summed", problem_}}, references_};
    all.variants[name] = measured;
    return judge(all, *find_variant(all.description, name));
  }

 private:
  ScenarioDescription scenario_;
  MeasuredVariant problem_;
  std::map<std::string, MeasuredVariant> references_;
};

inline void expect(const VariantResult& result, Verdict verdict, const std::string& failure_type,
                   const std::string& reason) {
  EXPECT_EQ(name_of(verdict), name_of(result.verdict));
  EXPECT_EQ(failure_type, name_of(result.failure_type));
  EXPECT_EQ(reason, result.reason);
}

}  // namespace ohm::engine
