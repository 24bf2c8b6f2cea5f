// The stand-in driver as tests use it: a fresh machine for each, checked at its end.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "allocator_shim/device/cuda/card.h"
#include "allocator_shim/device/cuda/nvml.h"
#include "tests/support/stand_in_driver/stand_in_driver.h"

namespace ohm::stand_in {

/// Lives as long as what was opened of it. Its end expects that the driver was not misused.
class StandIn {
 public:
  explicit StandIn(const std::string& words = "")
      : library_(::dlopen(OHM_STAND_IN_DRIVER, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(OHM_STAND_IN_DRIVER " cannot be opened");
    function<Reset>(kReset)(words.c_str());
  }
  ~StandIn() { EXPECT_EQ(misuse(), ""); }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  static std::string path() { return OHM_STAND_IN_DRIVER; }
  std::string misuse() const { return function<Misuse>(kMisuse)(); }
  unsigned long long held_bytes() const { return function<HeldBytes>(kHeldBytes)(); }
  int calls(const char* symbol) const { return function<Calls>(kCalls)(symbol); }

  static std::shared_ptr<cuda::Driver> driver() { return std::make_shared<cuda::Driver>(path()); }
  static std::shared_ptr<const cuda::Card> card(int ordinal = 0) {
    return std::make_shared<const cuda::Card>(driver(), ordinal);
  }
  static std::shared_ptr<const cuda::Nvml> nvml() {
    return std::make_shared<const cuda::Nvml>(path());
  }

 private:
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }

  void* library_;
};

}  // namespace ohm::stand_in
