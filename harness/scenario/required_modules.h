// The modules of a scenario: files beside it that `require` finds.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/scenario_program.h"

namespace ohm::engine {

/// Where `require(name)` of the script at `script_path` looks, in this order: "models.resnet" is
/// models/resnet.lua in the script's folder, or in lib/ there. nullopt: no name of a module. Names
/// are made of letters, digits, "_" and "-", so that no part of one can lead upwards.
std::optional<std::array<std::string, 2>> module_places(const std::string& script_path,
                                                        std::string_view name);

/// The files that the script at `path`, and those files, name as in require("nets"); sorted. A name
/// that a script computes is not seen.
std::vector<std::string> required_modules(const std::string& path);
/// The same of a script that is read already, with their texts; without those that cannot be read.
ModuleTexts required_modules(const std::string& path, std::string_view source);

}  // namespace ohm::engine
