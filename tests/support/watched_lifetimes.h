// Scripts are watched from their first event on, and what is found is checked.
#pragma once

#include "harness/lua/vm/lifetimes.h"

namespace ohm::test {

class WatchFromTheStart {
 public:
  WatchFromTheStart() : before_(lua::lifetime_settings()) {
    lua::lifetime_settings() = {.least_heap_bytes = 0,
                                .waits_after_failure = false,
                                .least_allowance_bytes = 1U << 20U,
                                .is_checked = true};
  }
  ~WatchFromTheStart() { lua::lifetime_settings() = before_; }
  WatchFromTheStart(const WatchFromTheStart&) = delete;
  WatchFromTheStart& operator=(const WatchFromTheStart&) = delete;

 private:
  lua::LifetimeSettings before_;
};

}  // namespace ohm::test
