#include "tests/support/stand_in_driver/stand_in.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/stand_in_driver/stand_in_driver.h"

namespace ohm::stand_in {

template <class Function>
Function* StandIn::function(const char* name) const {
  return reinterpret_cast<Function*>(::dlsym(library_, name));
}

StandIn::StandIn(const std::string& words)
    : library_(::dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) throw std::runtime_error(path() + " cannot be opened");
  function<Reset>(kReset)(words.c_str());
}

StandIn::~StandIn() { EXPECT_STREQ(function<Misuse>(kMisuse)(), ""); }

std::string StandIn::path() { return OHM_STAND_IN_DRIVER; }

unsigned long long StandIn::held_bytes() const { return function<HeldBytes>(kHeldBytes)(); }

int StandIn::calls(const char* symbol) const { return function<Calls>(kCalls)(symbol); }

unsigned long long StandIn::library_workspace() const { return function<Workspace>(kWorkspace)(); }

cuda::LibraryPlaces StandIn::libraries() { return {{path()}, {path()}, {path()}, {path()}}; }

std::shared_ptr<cuda::Driver> StandIn::driver() { return std::make_shared<cuda::Driver>(path()); }

std::shared_ptr<const cuda::CudaDevice> StandIn::device(int ordinal) {
  return std::make_shared<const cuda::CudaDevice>(driver(), ordinal);
}

std::shared_ptr<const cuda::Nvml> StandIn::nvml() {
  return std::make_shared<const cuda::Nvml>(path());
}

}  // namespace ohm::stand_in
