// A call of the driver, which has functions of the runtime do its work.
#pragma once

namespace ohm::interpose {

/// While there is one, functions of the runtime are neither a use of it, nor do their failures
/// become its last error.
class DriverCall {
 public:
  DriverCall() { ++depth; }
  ~DriverCall() { --depth; }
  DriverCall(const DriverCall&) = delete;
  DriverCall& operator=(const DriverCall&) = delete;

  static bool is_within() { return depth > 0; }

 private:
  inline static thread_local int depth = 0;
};

}  // namespace ohm::interpose
