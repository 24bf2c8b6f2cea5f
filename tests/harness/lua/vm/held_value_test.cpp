#include "harness/lua/vm/held_value.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace ohm::test {
namespace {

using lua::HeldValue;

TEST(HeldValue, KeepsTheValueUntilItIsReleased) {
  auto value = std::make_shared<int>(7);
  const std::weak_ptr<int> watched = value;
  HeldValue held(std::move(value));
  EXPECT_EQ(watched.use_count(), 1);
  held.release();
  EXPECT_TRUE(watched.expired());
  held.release();
}

TEST(HeldValue, ReleasesWhatItHoldsWhenItEnds) {
  const auto value = std::make_shared<int>(7);
  { const HeldValue held(std::shared_ptr<int>{value}); }
  EXPECT_EQ(value.use_count(), 1);
}

TEST(HeldValue, MovesWithoutCopying) {
  const auto first = std::make_shared<int>(1);
  const auto second = std::make_shared<int>(2);
  HeldValue from(std::shared_ptr<int>{first});
  HeldValue to(std::shared_ptr<int>{second});
  to = std::move(from);
  EXPECT_EQ(first.use_count(), 2);
  EXPECT_EQ(second.use_count(), 1);
  const HeldValue last(std::move(to));
  EXPECT_EQ(first.use_count(), 2);
}

TEST(HeldValue, IsTakenOutAsWhatItWas) {
  HeldValue held(std::make_unique<int>(7));
  const auto value = held.take<std::unique_ptr<int>>();
  EXPECT_EQ(*value, 7);
}

// A value that looks at its holder while it is destroyed: there is nothing left to destroy twice.
TEST(HeldValue, IsEmptyWhileItsValueIsDestroyed) {
  struct Releaser {
    HeldValue* holder;
    int* destroyed;
    Releaser(HeldValue* h, int* d) : holder(h), destroyed(d) {}
    ~Releaser() {
      ++*destroyed;
      holder->release();
    }
  };
  HeldValue held;
  int destroyed = 0;
  held = HeldValue(std::make_unique<Releaser>(&held, &destroyed));
  held.release();
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace ohm::test
