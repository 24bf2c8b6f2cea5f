// Scenarios written in C++: what the engine runs when there is no scripting language.
//
// A file's text is the name of the scenario, so that loading goes through a real file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/machine/machine.h"
#include "harness/scenario/scenario_program.h"
#include "runtime/tensor/context.h"
#include "tests/support/temp_folder.h"

namespace ohm::test {

/// The body of a variant.
using Body = std::function<engine::ReturnedValues(engine::RunContext& run)>;

struct FakeScenario {
  engine::ScenarioDescription description;
  std::map<std::string, Body> bodies;

  engine::VariantDescription& add(const std::string& name, Role role, Body body) {
    engine::VariantDescription variant;
    variant.name = name;
    variant.role = role;
    variant.line = 10 + static_cast<int>(description.variants.size());
    description.variants.push_back(variant);
    bodies[name] = std::move(body);
    return description.variants.back();
  }
};

class FakeProgram final : public engine::ScenarioProgram {
 public:
  explicit FakeProgram(FakeScenario scenario) : scenario_(std::move(scenario)) {}

  const engine::ScenarioDescription& description() const override { return scenario_.description; }
  void keep_only(const std::vector<std::string>& /*variants*/) override {
    scenario_.description.variants = {};
  }
  engine::ReturnedValues run(const std::string& variant, engine::RunContext& run) override {
    return scenario_.bodies.at(variant)(run);
  }
  /// A program of C++ has no variables that could be read.
  RetentionResult retention(int /*gpu*/, const engine::BlockSizes& /*blocks*/) override {
    return {};
  }

 private:
  FakeScenario scenario_;
};

/// A folder of scenario files and the loader that knows them.
class FakeScenarios {
 public:
  /// Makes the file "<name>.lua" and returns its path. `make` runs when the file is loaded.
  std::string add(const std::string& name, std::function<FakeScenario()> make) {
    makers_[name] = std::move(make);
    return folder_.write(name + ".lua", name);
  }
  std::string add(const FakeScenario& scenario) {
    return add(scenario.description.name, [scenario] { return scenario; });
  }

  engine::ScenarioLoader loader() const {
    return [this](const engine::LoadRequest& request) {
      return std::make_unique<FakeProgram>(makers_.at(request.source)());
    };
  }

  const TempFolder& folder() const { return folder_; }

 private:
  TempFolder folder_;
  std::map<std::string, std::function<FakeScenario()>> makers_;
};

/// A block on GPU 0 that lives until the process ends.
inline Allocation allocate(engine::RunContext& run, std::size_t bytes,
                           Category category = Category::activation) {
  AllocationRequest request;
  request.bytes = bytes;
  request.category = category;
  Context& context = Context::current();
  context.state.file = "fake.lua";
  context.state.line = 7;
  context.state.op = "randn";
  request.site = context.site();
  return run.machine().requests(0).allocate(request);
}

inline engine::ReturnedValues loss_of(double loss) {
  return {{"loss", {"float32", {}, {loss}, {}, true, {}}}};
}

/// `steps` steps that each leave `growth_bytes` behind.
inline Body growing(int steps, std::size_t growth_bytes, double loss = 1) {
  return [=](engine::RunContext& run) {
    for (int step = 0; step < steps; ++step) {
      allocate(run, growth_bytes);
      run.mark_step();
    }
    return loss_of(loss);
  };
}

/// `steps` steps that each give back what they take.
inline Body freeing(int steps) {
  return [=](engine::RunContext& run) {
    for (int step = 0; step < steps; ++step) {
      run.machine().requests(0).free(allocate(run, 512).block);
      run.mark_step();
    }
    return loss_of(1);
  };
}

/// A leak, a mitigation that frees, and what else belongs to it: everything passes.
inline FakeScenario leak(const std::string& name = "leak") {
  FakeScenario scenario;
  scenario.description.name = name;
  scenario.description.summary = "Blocks that nobody frees";
  scenario.description.limits = {"growth_bytes_per_step == 0"};
  scenario.add("kept", Role::problem, growing(5, 512));
  scenario.add("freed", Role::mitigation, growing(5, 0));
  scenario.add("still_kept", Role::non_fix, growing(5, 1024));
  scenario.add("nothing", Role::control, freeing(3));
  return scenario;
}

}  // namespace ohm::test
