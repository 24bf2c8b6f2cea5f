// Functions of functions that are being called: PyTorch computes some ops in other ways in them.
#pragma once

#include <utility>

namespace ohm {

struct RunningTransforms {
  int gradients = 0;  ///< grad, vjp, …
  int vmaps = 0;
  bool random_is_forbidden = false;  ///< by the innermost vmap

  bool any() const { return gradients > 0 || vmaps > 0; }
};

/// Of this thread. Scopes count up and down again.
RunningTransforms& running_transforms();

/// Counts one while it lives.
class TransformScope {
 public:
  explicit TransformScope(int& count) : count_(count) { ++count_; }
  ~TransformScope() { --count_; }
  TransformScope(const TransformScope&) = delete;
  TransformScope& operator=(const TransformScope&) = delete;

 private:
  int& count_;
};

/// Says whether random ops may draw while it lives.
class RandomScope {
 public:
  RandomScope(bool& is_forbidden, bool forbids)
      : is_forbidden_(is_forbidden), previous_(std::exchange(is_forbidden, forbids)) {}
  ~RandomScope() { is_forbidden_ = previous_; }
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  bool& is_forbidden_;
  bool previous_;
};

}  // namespace ohm
