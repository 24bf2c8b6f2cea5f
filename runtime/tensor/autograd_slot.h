// A place in the state of a rank for what autograd keeps there.
#pragma once

#include <memory>
#include <utility>

namespace ohm {

/// What autograd adds to the state of a rank; defined in autograd/autograd_state.h.
struct AutogradStateBase {
  AutogradStateBase() = default;
  AutogradStateBase& operator=(const AutogradStateBase&) = delete;
  virtual ~AutogradStateBase() = default;
  virtual std::unique_ptr<AutogradStateBase> clone() const = 0;

 protected:
  AutogradStateBase(const AutogradStateBase&) = default;
};

/// Holds it by value: a copy of the rank's state has a copy of it.
class AutogradSlot {
 public:
  AutogradSlot() = default;
  AutogradSlot(const AutogradSlot& other) : kept_(other.kept_ ? other.kept_->clone() : nullptr) {}
  AutogradSlot(AutogradSlot&&) noexcept = default;
  AutogradSlot& operator=(AutogradSlot other) noexcept {
    kept_ = std::move(other.kept_);
    return *this;
  }
  ~AutogradSlot() = default;

  /// nullptr until autograd has something to keep.
  AutogradStateBase* get() const { return kept_.get(); }
  void put(std::unique_ptr<AutogradStateBase> state) { kept_ = std::move(state); }

 private:
  std::unique_ptr<AutogradStateBase> kept_;
};

}  // namespace ohm
