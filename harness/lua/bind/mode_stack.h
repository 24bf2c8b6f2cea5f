// The modes that a script has switched on: no_grad, autocast and their like.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace ohm::lua {

/// A guard of the runtime restores what it found, so guards must end in the reverse order of their
/// beginning. A script can end its modes in any order (a coroutine that is never resumed, a guard
/// that is only collected): a mode that is closed while later ones are open ends with them.
class ModeStack {
 public:
  struct Mode {
    std::shared_ptr<const void> guard;
    bool is_closed = false;
  };
  using ModePtr = std::shared_ptr<Mode>;

  ModeStack() = default;
  ModeStack(const ModeStack&) = delete;
  ModeStack& operator=(const ModeStack&) = delete;
  ~ModeStack() {
    while (!open_.empty()) open_.pop_back();
  }

  /// `guard` is in force already.
  ModePtr open(std::shared_ptr<const void> guard) {
    return open_.emplace_back(std::make_shared<Mode>(Mode{std::move(guard)}));
  }

  void close(Mode& mode) {
    mode.is_closed = true;
    while (!open_.empty() && open_.back()->is_closed) {
      open_.back()->guard.reset();
      open_.pop_back();
    }
  }

 private:
  std::vector<ModePtr> open_;
};

}  // namespace ohm::lua
