// The limit on the host memory that holds the values of all devices of a process.
#pragma once

#include <cstddef>
#include <stdexcept>

namespace ohm {

/// The host does not give what values need: smaller devices or size-only ones may do.
class HostRefusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ValueBudget {
 public:
  explicit ValueBudget(std::size_t bytes) : bytes_(bytes) {}
  ValueBudget(const ValueBudget&) = delete;
  ValueBudget& operator=(const ValueBudget&) = delete;

  /// Throws HostRefusal where that is more than is left, and takes nothing then.
  void take(std::size_t bytes);
  /// Of what was taken.
  void give_back(std::size_t bytes) { taken_bytes_ -= bytes; }

 private:
  std::size_t bytes_;
  std::size_t taken_bytes_ = 0;
};

/// The part of a budget that one device has taken: given back when the device ends, at the latest.
class ValueShare {
 public:
  /// No budget: anything can be taken. It outlives the share.
  explicit ValueShare(ValueBudget* budget) : budget_(budget) {}
  ~ValueShare() { give_back(taken_bytes_); }
  ValueShare(const ValueShare&) = delete;
  ValueShare& operator=(const ValueShare&) = delete;

  /// Throws HostRefusal.
  void take(std::size_t bytes) {
    if (budget_ != nullptr) budget_->take(bytes);
    taken_bytes_ += bytes;
  }
  void give_back(std::size_t bytes) {
    if (budget_ != nullptr) budget_->give_back(bytes);
    taken_bytes_ -= bytes;
  }

 private:
  ValueBudget* budget_;
  std::size_t taken_bytes_ = 0;
};

}  // namespace ohm
