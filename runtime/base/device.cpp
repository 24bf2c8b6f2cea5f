#include "runtime/base/device.h"

#include <fmt/core.h>

#include <charconv>
#include <stdexcept>

namespace ohm {

std::string Device::str() const { return is_cpu() ? "cpu" : fmt::format("cuda:{}", index); }

Device parse_device(std::string_view text, Device current) {
  if (text == "cpu") return Device::cpu();
  if (text == "cuda") return current;
  constexpr std::string_view kPrefix = "cuda:";
  if (text.starts_with(kPrefix)) {
    const char* end = text.data() + text.size();
    int index = -1;
    const auto [stop, error] = std::from_chars(text.data() + kPrefix.size(), end, index);
    if (error == std::errc() && stop == end && index >= 0 && index < 1024) {
      return Device::cuda(index);
    }
  }
  throw std::invalid_argument(
      fmt::format("invalid device '{}': expected 'cpu', 'cuda' or 'cuda:N'", text));
}

}  // namespace ohm
