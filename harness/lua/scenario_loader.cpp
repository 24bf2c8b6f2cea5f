#include "harness/lua/scenario_loader.h"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/lua/bind/returned_values.h"
#include "harness/lua/inspect/fingerprint.h"
#include "harness/lua/inspect/module_counts.h"
#include "harness/lua/inspect/retention.h"
#include "harness/lua/libraries/scenario_library.h"
#include "harness/lua/libraries/script_bindings.h"
#include "harness/lua/vm/call_stack.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/machine/machine.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

/// Tells natives which variant runs.
class RunScope {
 public:
  RunScope(Interpreter& interpreter, engine::RunContext& run) : interpreter_(interpreter) {
    interpreter_.run = &run;
  }
  ~RunScope() { interpreter_.run = nullptr; }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

 private:
  Interpreter& interpreter_;
};

/// Without the others, and without the memory that they took.
void keep_variants(std::vector<engine::VariantDescription>& all,
                   const std::vector<std::string>& names) {
  const std::set<std::string_view> wanted(names.begin(), names.end());
  std::vector<engine::VariantDescription> kept;
  for (engine::VariantDescription& variant : all) {
    if (wanted.count(variant.name) > 0) kept.push_back(std::move(variant));
  }
  all = std::move(kept);
}

class LuaScenario final : public engine::ScenarioProgram {
 public:
  explicit LuaScenario(const engine::LoadRequest& request)
      : interpreter_(request.path, request.caps, request.seed, script_bindings()) {
    interpreter_.parameters = ScenarioParameters(request.parameters);
    interpreter_.modules = request.modules;
    interpreter_.load(request.source, request.path);
    interpreter_.call(0, 1);
    description_ = test_scenario(state(), kScenario);
    if (description_ == nullptr) {
      throw error(fmt::format("{}: the file does not return a scenario", request.path), 0,
                  "end it with return ohm.scenario {...}");
    }
    // Variants are run in copies of this state: what is not needed would be looked at in each.
    interpreter_.collect(state());
  }

  const engine::ScenarioDescription& description() const override { return *description_; }

  engine::ModuleTexts modules() const override { return interpreter_.modules; }

  void keep_only(const std::vector<std::string>& variants) override {
    keep_variants(description_->variants, variants);
    // Where there are others than the scenario's, functions may hold what counts: a tensor, or an
    // object that weak references know.
    if (interpreter_.handle_classes().size() > 1) return;
    keep_variant_functions(state(), kScenario, variants);
    interpreter_.collect(state());
  }

  engine::ReturnedValues run(const std::string& variant, engine::RunContext& run) override {
    const RunScope scope(interpreter_, run);
    tell_points(run.machine());
    push_variant_function(state(), kScenario, variant);
    if (lua_isnil(state(), -1)) {
      lua_pop(state(), 1);
      throw error(fmt::format("{}: there is no variant \"{}\"", description_->file, variant), 0,
                  "");
    }
    lua_pushstring(state(), Context::current().gpus.empty() ? "cpu" : "cuda:0");
    interpreter_.call(1, 1);
    engine::ReturnedValues values = copy_values(variant);
    lua_pop(state(), 1);
    interpreter_.collect(state());
    return values;
  }

  bool has_next_step(const std::string& variant) override {
    push_next_step(state(), kScenario, variant);
    const bool has_one = !lua_isnil(state(), -1);
    lua_pop(state(), 1);
    return has_one;
  }

  void next_step(const std::string& variant, engine::RunContext& run) override {
    const RunScope scope(interpreter_, run);
    push_next_step(state(), kScenario, variant);
    lua_pushstring(state(), Context::current().gpus.empty() ? "cpu" : "cuda:0");
    interpreter_.call(1, 0);
    interpreter_.collect(state());
  }

  void let_go() override { interpreter_.collect_fully(state()); }

  std::optional<std::uint64_t> fingerprint() override { return fingerprint_of(state()); }

  engine::ProgramSettings settings() override {
    return {{"the number of memory pools in use",
             std::to_string(interpreter_.settings.memory_pools_in_use)}};
  }

  engine::ModuleCounts module_counts() override { return module_counts_of(state()); }

  RetentionResult retention(int gpu, const engine::BlockSizes& blocks) override {
    return retention_of(interpreter_, Device::cuda(gpu), blocks);
  }

 private:
  void tell_points(engine::Machine& machine) {
    machine.faults().set_points([this](const FaultCandidate& candidate) {
      return point_of(interpreter_.running_state(), candidate);
    });
    machine.on_program_stack([this] {
      std::vector<engine::Machine::ProgramFrame> frames;
      for (const ScriptFrame& frame : stack_of(interpreter_.running_state())) {
        frames.push_back({frame.file, frame.line, frame.function});
      }
      return frames;
    });
  }

  // The scenario stays where the file's chunk left it.
  static constexpr int kScenario = 1;

  lua_State* state() { return interpreter_.state(); }

  engine::ReturnedValues copy_values(const std::string& variant) {
    try {
      engine::ReturnedValues values = copy_returned_values(state(), -1);
      Context::current().check_deferred_errors();
      return values;
    } catch (const std::invalid_argument& refused) {
      const int line = line_of(variant);
      throw error(fmt::format("{}:{}: {}", description_->file, line, refused.what()), line, "");
    }
  }

  int line_of(const std::string& name) const {
    for (const engine::VariantDescription& variant : description_->variants) {
      if (variant.name == name) return variant.line;
    }
    return description_->line;
  }

  engine::ScriptError error(const std::string& message, int line, std::string hint) const {
    engine::ScriptError result(message);
    result.file = interpreter_.script_path();
    result.line = line;
    result.hint = std::move(hint);
    return result;
  }

  Interpreter interpreter_;
  std::shared_ptr<engine::ScenarioDescription> description_;
};

}  // namespace

std::unique_ptr<engine::ScenarioProgram> load_scenario(const engine::LoadRequest& request) {
  return std::make_unique<LuaScenario>(request);
}

}  // namespace ohm::lua
