#include "harness/gate/machine_text.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using Json = nlohmann::json;

/// What each device of a machine is told by, in this order.
constexpr std::array<const char*, 5> kMachineWords = {"profile", "capacity", "use of values",
                                                      "rules", "settings"};

/// The devices of a machine's text; empty where it was edited into something else.
std::vector<Json> devices_of(const std::string& machine) {
  std::vector<Json> devices;
  std::istringstream text(machine);
  try {
    while ((text >> std::ws).peek() == '[') {
      Json device;
      text >> device;
      if (device.size() != kMachineWords.size()) return {};
      devices.push_back(std::move(device));
    }
  } catch (const Json::exception&) {
    return {};
  }
  return devices;
}

}  // namespace

std::string machine_text(const VariantResult& variant, std::uint64_t seed) {
  std::string machine;
  for (const DeviceResult& device : variant.devices) {
    const Json one = {device.profile, device.capacity_bytes, device.values, device.rules,
                      device.alloc_conf};
    machine += reports::json_line(one) + " ";
  }
  return machine + fmt::format("seed {}", seed);
}

std::string machine_difference(const std::string& there, const std::string& here) {
  const std::vector<Json> before = devices_of(there);
  const std::vector<Json> after = devices_of(here);
  if (before.size() != after.size()) {
    return fmt::format("the GPUs are {} there, {} here", before.size(), after.size());
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    for (std::size_t word = 0; word < kMachineWords.size(); ++word) {
      if (before[i][word] == after[i][word]) continue;
      return fmt::format("the {} of cuda:{} is {} there, {} here", kMachineWords[word], i,
                         reports::json_line(before[i][word]), reports::json_line(after[i][word]));
    }
  }
  return fmt::format("the seed or the text is {} there, {} here", there, here);
}

}  // namespace ohm::engine
