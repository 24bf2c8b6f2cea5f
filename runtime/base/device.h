// A device, where tensors live: host memory or one of the GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ohm {

/// -1 is "cpu"; 0 … n-1 are "cuda:0" … "cuda:n-1".
struct Device {
  std::int16_t index = -1;

  static constexpr Device cpu() { return {}; }
  static constexpr Device cuda(int index) { return Device{static_cast<std::int16_t>(index)}; }

  constexpr bool is_cpu() const { return index < 0; }
  constexpr bool is_cuda() const { return index >= 0; }

  /// "cpu" or "cuda:1".
  std::string str() const;

  friend constexpr bool operator==(const Device&, const Device&) = default;
};

/// Reads "cpu", "cuda" (the current GPU, given by `current`) or "cuda:1". Whether the GPU exists
/// is checked where the device is used. Throws std::invalid_argument.
Device parse_device(std::string_view text, Device current);

}  // namespace ohm
