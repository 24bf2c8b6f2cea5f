// device(cuda:1): calls on one device; `cuda` means every GPU, `cpu` the host.
#pragma once

#include <charconv>

#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Device final : public FaultPolicy {
 public:
  static constexpr int kEveryGpu = -2;
  static constexpr int kHost = -1;

  explicit Device(int device) : device_(device) {}
  bool holds(const FaultCandidate& candidate) const override {
    return device_ == kEveryGpu ? candidate.device >= 0 : candidate.device == device_;
  }

  static std::unique_ptr<FaultPolicy> make(PolicyArguments& arguments) {
    const std::string_view name = arguments.take_text("a device");
    if (name == "cpu") return std::make_unique<Device>(kHost);
    if (name == "cuda") return std::make_unique<Device>(kEveryGpu);
    constexpr std::string_view kPrefix = "cuda:";
    int index = 0;
    const auto [end, error] =
        std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), index);
    const bool is_index = name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
                          error == std::errc() && end == name.data() + name.size() && index >= 0;
    if (!is_index) arguments.refuse("a device must be cpu, cuda or cuda:N");
    return std::make_unique<Device>(index);
  }

 private:
  int device_;
};

inline constexpr FaultPolicyRow kDevice = {
    "device",
    "device(cuda:N)",
    "only calls on this device; also cuda (every GPU) and cpu",
    FaultPolicy::Kind::condition,
    Device::make,
    FaultPolicyRow::Names::device};

}  // namespace ohm::fault_policies_detail
