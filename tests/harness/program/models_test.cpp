// The models that scenarios share: their published sizes, and that they train.
#include <filesystem>

#include "tests/harness/program/program_test.h"
#include "tests/support/checkout_paths.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;

constexpr const char* kCount =
    "local function count(model)\n"
    "  local n = 0\n"
    "  for _, parameter in ipairs(model:parameters()) do n = n + parameter:numel() end\n"
    "  return n\n"
    "end\n";

/// A scenario with one check; the models are where its `require` looks.
class Models : public test::ProgramTest {
 protected:
  Models() {
    std::filesystem::copy(OHM_SOURCE_DIR "/scenarios/lib", folder_.path() / "lib",
                          std::filesystem::copy_options::recursive);
  }

  ProgramResult run(const std::string& body, const std::vector<std::string>& options = {}) {
    folder_.write("models.lua",
                  std::string(kCount) + "local function run(device)\n" + body +
                      "\nend\n"
                      "return ohm.scenario {name = 'models', gpu = {profile = 'h200-141g'},\n"
                      "  checks = {it = {run = run, limits = {'num_ooms == 0'}}}}\n");
    std::vector<std::string> arguments = {"run", "models.lua", "-v"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return ohm(arguments);
  }
};

TEST_F(Models, HaveTheirPublishedNumbersOfParameters) {
  const ProgramResult ran =
      run("  local resnet, gpt2 = require('models.resnet'), require('models.gpt2')\n"
          "  local llama = require('models.llama')\n"
          "  local on = {device = device}\n"
          "  print('ResNet-18', count(resnet.resnet18(on)))\n"
          "  print('ResNet-50', count(resnet.resnet50(on)))\n"
          "  print('GPT-2', count(gpt2(on)))\n"
          "  print('GPT-2 XL', count(gpt2 {device = device, size = 'xl'}))\n"
          "  print('Llama-2-7B', count(llama(on)))",
          {"--size-only"});
  EXPECT_EQ(0, ran.code) << ran.out;
  EXPECT_TRUE(contains(ran.out, "ResNet-18  11689512\n")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "ResNet-50  25557032\n")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "GPT-2  124439808\n")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "GPT-2 XL  1557611200\n")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "Llama-2-7B  6738415616\n")) << ran.out;
}

// Two steps on one batch: a model whose gradients were wrong would not follow them.
constexpr const char* kTrain =
    "  local function train(model, x, y, lr)\n"
    "    local optimizer = ohm.optim.AdamW(model:parameters(), {lr = lr or 1e-3})\n"
    "    local first, loss\n"
    "    for _ = 1, 2 do\n"
    "      optimizer:zero_grad()\n"
    "      local out = model(x)\n"
    "      loss = ohm.nn.functional.cross_entropy(out:reshape(-1, out:size(-1)), y:reshape(-1))\n"
    "      first = first or loss:item()\n"
    "      loss:backward()\n"
    "      optimizer:step()\n"
    "    end\n"
    "    assert(loss:item() ~= loss:item() or loss:item() < first, 'it learns nothing')\n"
    "  end\n";

TEST_F(Models, TrainWithValuesAndTakeTheSameBytesWithout) {
  const std::string body =
      std::string(kTrain) +
      "  local tokens = ohm.randint(50, {2, 16}, {device = device})\n"
      "  local small = {device = device, width = 32, layers = 2, heads = 4, vocabulary = 50}\n"
      "  train(require('models.gpt2')(small), tokens, tokens)\n"
      "  small.kv_heads, small.hidden = 2, 48\n"
      "  local llama = require('models.llama')(small)\n"
      "  train(llama, tokens, tokens)\n"
      "  train(require('models.lora')(llama, {'q_proj', 'v_proj'}, {rank = 4}), tokens, tokens)\n"
      "  local images = ohm.randn(2, 3, 64, 64, {device = device})\n"
      "  local labels = ohm.randint(10, {2}, {device = device})\n"
      "  train(require('models.resnet').resnet18 {device = device, classes = 10}, images, labels, "
      "1e-4)\n"
      "  print('peak', ohm.cuda.max_memory_allocated(), ohm.cuda.max_memory_reserved())";
  const ProgramResult values = run(body);
  EXPECT_EQ(0, values.code) << values.out;
  const ProgramResult sizes = run(body, {"--size-only"});
  EXPECT_EQ(0, sizes.code) << sizes.out;
  const auto peak_line = [](const std::string& out) -> std::string {
    const std::size_t at = out.find("peak  ", out.find("it printed:"));
    if (at == std::string::npos) return "";
    return out.substr(at, out.find('\n', at) - at);
  };
  EXPECT_EQ(peak_line(values.out), peak_line(sizes.out));
  EXPECT_TRUE(contains(peak_line(values.out), "peak  ")) << values.out;
}

}  // namespace
}  // namespace ohm
