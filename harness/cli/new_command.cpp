#include "harness/cli/new_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "harness/cli/terminal.h"

namespace ohm::cli {

namespace {

namespace fs = std::filesystem;

struct NewArguments {
  std::string name;
  std::string folder = ".";
};

/// The scenario's name takes the place of NAME. It runs and passes as it is.
constexpr std::string_view kTemplate = R"lua(-- Symptom: "what people see, in their words."
--
-- Why it happens, in a few lines. What to do: what helps. Here: outputs that are kept in a list
-- hold the graph they were computed with, and so everything that backward would need.
--
-- PyTorch:
--     outputs.append(model(x).detach().cpu())

local nn = ohm.nn

-- Numbers that can be set from outside: ohm run NAME.lua --set batch=128, ohm fit --vary batch.
local params = ohm.params {batch = {default = 64, min = 1, summary = "samples at once"}}

-- What all variants have in common. `keep` is what they do differently: a table of outputs.
-- Every variant gets the device, "cuda:0".
local function predict(device, keep)
  local model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 10)):to(device)
  local outputs, x = {}, nil -- declared here: a Python loop variable survives the loop
  for i = 1, 8 do
    x = ohm.randn(params.batch, 256, {device = device})
    outputs[i] = keep(model(x))
    ohm.step() -- growth is measured between these marks
  end
  local sum = 0
  for i = 1, #outputs do sum = sum + outputs[i]:sum():item() end
  return {sum = sum} -- what mitigations must compute as well
end

return ohm.scenario {
  name = "NAME",
  summary = "Outputs in a list keep the graph of every forward pass",
  gpu = {profile = "tiny-64m", values = true},

  -- A problem has to break one of these, a mitigation holds all of them and computes the same, a
  -- non-fix still breaks one, a control looks like the problem and holds them all.
  -- ohm list --measurements prints what a limit can be about.
  limits = {"growth_bytes_per_step == 0"},

  problems = {kept = function(d) return predict(d, function(out) return out end) end},
  mitigations = {
    detached_to_cpu = function(d) return predict(d, function(out) return out:detach():cpu() end) end,
  },
  non_fixes = {
    empty_cache = function(d)
      return predict(d, function(out)
        ohm.cuda.empty_cache()
        return out
      end)
    end,
  },
}
)lua";

constexpr std::string_view kEditorSettings = R"json({
  "runtime.version": "Lua 5.4",
  "workspace.library": [".ohm"],
  "workspace.checkThirdParty": false,
  "diagnostics.globals": ["ohm"]
}
)json";

void check_name(const std::string& name) {
  if (name.empty()) throw UsageError("name the scenario, as in ohm new my_leak");
  const bool has_good_letters = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  const bool begins_well = name.front() >= 'a' && name.front() <= 'z';
  constexpr std::size_t kLongest = 64;
  if (has_good_letters && begins_well && name.size() <= kLongest) return;
  std::string hint;
  if (name.ends_with(".lua")) hint = "; leave out .lua";
  if (name.find('/') != std::string::npos) hint = "; --folder says where it goes";
  throw UsageError(fmt::format(
      "\"{}\" is not a valid scenario name: lowercase letters, digits and _, a letter first{}",
      name, hint));
}

std::string scenario_text(const std::string& name) {
  constexpr std::string_view kPlace = "NAME";
  std::string text(kTemplate);
  for (std::size_t at = 0; (at = text.find(kPlace, at)) != std::string::npos; at += name.size()) {
    text.replace(at, kPlace.size(), name);
  }
  return text;
}

int make_new(const NewArguments& arguments, const Environment& environment) {
  check_name(arguments.name);
  const fs::path folder = arguments.folder;
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw UsageError(fmt::format("--folder {}: there is no such folder", arguments.folder));
  }
  const fs::path scenario = (folder / (arguments.name + ".lua")).lexically_normal();
  if (fs::exists(fs::symlink_status(scenario, error))) {
    throw UsageError(fmt::format("{} already exists; it is left as it is", scenario.string()));
  }
  const fs::path definitions = (folder / ".ohm" / "ohm.lua").lexically_normal();
  fs::create_directory(definitions.parent_path(), error);
  if (error) {
    throw UsageError(fmt::format("cannot write {}: {}", definitions.string(), error.message()));
  }
  write_file(definitions.string(), environment.editor_definitions());
  const fs::path settings = (folder / ".luarc.json").lexically_normal();
  const bool has_settings = fs::exists(fs::symlink_status(settings, error));
  if (!has_settings) write_file(settings.string(), kEditorSettings);
  write_file(scenario.string(), scenario_text(arguments.name));
  print_text(fmt::format(
      "{}  a scenario that passes, to change step by step\n"
      "{}  for editors: what scripts can call\n"
      "{}{}\n\nnext: ohm run {}\n",
      scenario.string(), definitions.string(), settings.string(),
      has_settings ? "  already exists and is left as it is: add \".ohm\" to workspace.library"
                   : "  for editors with the Lua language server",
      scenario.string()));
  return 0;
}

}  // namespace

std::function<int()> setup_new(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<NewArguments>();
  parser
      .add_option("NAME", arguments->name, "Name of the scenario: lowercase letters, digits and _")
      .type_name("");
  parser
      .add_option("--folder", arguments->folder, "Where to write it (default: the current folder)")
      .type_name("FOLDER");
  return [arguments, &environment] { return make_new(*arguments, environment); };
}

}  // namespace ohm::cli
