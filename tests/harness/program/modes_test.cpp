// Without values the same happens: every scenario, and a training step of every model that
// scenarios share, with values and without, event for event.
#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/golden.h"

namespace ohm {
namespace {

namespace fs = std::filesystem;

/// Variants that do something else where values are not known, by their nature.
const std::set<std::string>& variants_led_by_values() {
  // A step with an infinite gradient is skipped; without values none is known to be infinite.
  static const std::set<std::string> kNames = {"fp16_overflow-scaler_that_halves",
                                               "fp16_overflow-skipped_step"};
  return kNames;
}

class Modes : public test::ProgramTest {
 protected:
  Modes() {
    fs::create_directory(file("values"));
    fs::create_directory(file("sizes"));
  }

  /// Runs the file in both modes; the names of the variants whose snapshots differ.
  std::set<std::string> differing_variants(const std::string& path) {
    const std::string stem = fs::path(path).stem().string();
    ohm({"run", path, "--snapshot", "values/" + stem + "-{variant}.pickle"});
    ohm({"run", path, "--size-only", "--snapshot", "sizes/" + stem + "-{variant}.pickle"});
    std::set<std::string> differing;
    for (const fs::directory_entry& entry : fs::directory_iterator(file("values"))) {
      const std::string name = entry.path().stem().string();
      if (!name.starts_with(stem + "-")) continue;
      ++compared_;
      const fs::path other = fs::path(file("sizes")) / entry.path().filename();
      const bool is_same = fs::exists(other) && test::read_file(entry.path().string()) ==
                                                    test::read_file(other.string());
      if (!is_same) differing.insert(name);
    }
    return differing;
  }

  int compared_ = 0;
};

TEST_F(Modes, EveryScenarioAllocatesTheSame) {
  std::set<std::string> differing;
  for (const fs::directory_entry& entry : fs::directory_iterator(OHM_SOURCE_DIR "/scenarios")) {
    if (entry.path().extension() == ".lua") {
      differing.merge(differing_variants(entry.path().string()));
    }
  }
  EXPECT_GT(compared_, 50);
  EXPECT_EQ(differing, variants_led_by_values());
}

TEST_F(Modes, EveryModelAllocatesTheSame) {
  fs::copy(OHM_SOURCE_DIR "/scenarios/lib", file("lib"), fs::copy_options::recursive);
  folder_.write("models.lua", R"lua(
local nn, F = ohm.nn, ohm.nn.functional

local function train(model, x, y, optimizer)
  for _ = 1, 2 do
    optimizer:zero_grad()
    local out = model(x)
    F.cross_entropy(out:view(-1, out:size(-1)), y):backward()
    optimizer:step()
    ohm.step()
  end
end

local function tokens(device) return ohm.randint(50, {2, 8}, {device = device}) end
local function labels(device) return ohm.randint(50, {16}, {device = device}) end
local small = {width = 32, layers = 2, heads = 4, kv_heads = 2, hidden = 48, vocabulary = 50,
               positions = 40}

local function language_model(name, run)
  return function(device)
    local options = {device = device}
    for key, value in pairs(small) do options[key] = value end
    local model = require(name)(options)
    return run(model, device)
  end
end

local function train_it(model, device)
  train(model, tokens(device), labels(device), ohm.optim.AdamW(model:parameters()))
end
local function generate(model, device) model:generate(tokens(device), 4) end

local function resnet(device)
  local model = require("models.resnet").resnet18 {device = device}
  local optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9})
  train(model, ohm.randn(2, 3, 32, 32, {device = device}),
        ohm.randint(10, {2}, {device = device}), optimizer)
end

local function loaded(device)
  local data = ohm.utils.data
  local set = data.TensorDataset(ohm.randn(20, 4), ohm.randint(3, {20}))
  local model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 3)):to(device)
  local optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.1})
  local options = {batch_size = 8, shuffle = true, num_workers = 2, pin_memory = true}
  for x, y in data.DataLoader(set, options) do
    train(model, x:to(device, {non_blocking = true}), y:to(device), optimizer)
  end
end

local function master(device)
  local model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
  local optimizer
  model, optimizer = require("master_weights")(model:to(device), ohm.optim.Adam, {scale = 8})
  local loss = model(ohm.randn(6, 4, {device = device}):half()):float():square():mean()
  optimizer:backward(loss)
  optimizer:step()
end

local limits = {"num_ooms == 0"}
return ohm.scenario {
  name = "models", gpu = {profile = "a100-40g", values = true},
  checks = {
    gpt2 = {run = language_model("models.gpt2", train_it), limits = limits},
    gpt2_cache = {run = language_model("models.gpt2", generate), limits = limits},
    llama = {run = language_model("models.llama", train_it), limits = limits},
    llama_cache = {run = language_model("models.llama", generate), limits = limits},
    resnet = {run = resnet, limits = limits},
    loaded = {run = loaded, limits = limits},
    master = {run = master, limits = limits},
  },
}
)lua");
  EXPECT_EQ(differing_variants("models.lua"), std::set<std::string>{});
  EXPECT_EQ(compared_, 7);
}

}  // namespace
}  // namespace ohm
