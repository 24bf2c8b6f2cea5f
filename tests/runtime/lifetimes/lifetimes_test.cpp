#include "runtime/lifetimes/lifetimes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>

#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/lifetimes/call_frames.h"
#include "tests/support/op_events.h"

namespace ohm::test {
namespace {

class LifetimesOfPython : public OpEvents {};

TEST_F(LifetimesOfPython, AListGoesFromItsLast) {
  {
    TemporaryList list;
    for (int i = 0; i < 3; ++i) list.push_back(input({128}));
    EXPECT_EQ(events(), "+1:512 +2:512 +3:512");
  }
  EXPECT_EQ(events(), "-3 -2 -1");
}

TEST_F(LifetimesOfPython, LocalsWaitForTheInnermostCallThatRuns) {
  LocalsOfCall outer;
  {
    LocalsOfCall inner;
    outlive_arguments(input({128}));
    EXPECT_EQ(events(), "+1:512");
    EXPECT_EQ(inner.take().size(), 1U);
    EXPECT_EQ(events(), "-1");
  }
  EXPECT_TRUE(outer.take().empty());
}

TEST_F(LifetimesOfPython, LocalsGoAtOnceWhereNoCallWaits) {
  outlive_arguments(input({128}));
  EXPECT_EQ(events(), "+1:512 -1");
}

/// A function with a variable and a list of two, which runs out of memory where `made` elements of
/// its list are there.
void update(const Tensor& grad, std::size_t made) {
  TemporaryList list(2);
  Variable variable;
  variable = grad;
  while (list.size() < made) list.push_back(empty_like(grad));
  throw OutOfMemory({});
}

std::size_t held_after(const Tensor& grad, std::size_t made) {
  const EndedUpdate ended;
  EXPECT_THROW(update(grad, made), OutOfMemory);
  return ended.variables().size();
}

TEST_F(LifetimesOfPython, AnErrorKeepsVariablesAndListsThatAreFull) {
  const Tensor grad = input({128});
  EXPECT_EQ(held_after(grad, 2), 3U);
  EXPECT_EQ(held_after(grad, 1), 1U) << "the op that fills a list lets go of its elements";
}

TEST_F(LifetimesOfPython, AnErrorOfMemoryHoldsVariablesUntilItGoes) {
  std::optional<OutOfMemory> kept;
  try {
    Tensor local = input({128});
    try {
      throw OutOfMemory({});
    } catch (...) {
      hold_variables({local, Tensor()});
      throw;
    }
  } catch (const OutOfMemory& error) {
    kept = error;
  }
  EXPECT_EQ(events(), "+1:512");
  kept.reset();
  EXPECT_EQ(events(), "-1");
}

TEST_F(LifetimesOfPython, AnotherErrorHoldsNothing) {
  EXPECT_THROW(
      {
        Tensor local = input({128});
        try {
          throw std::invalid_argument("no");
        } catch (...) {
          hold_variables({local});
          throw;
        }
      },
      std::invalid_argument);
  EXPECT_EQ(events(), "+1:512 -1");
}

TEST_F(LifetimesOfPython, AnErrorOfAScriptKeepsThemWhereItWasTold) {
  struct ScriptError {};
  std::shared_ptr<const void> kept = variables_of_script_error();
  try {
    Tensor local = input({128});
    try {
      throw ScriptError();
    } catch (...) {
      hold_variables({local});
      throw;
    }
  } catch (const ScriptError&) {
    EXPECT_EQ(events(), "+1:512");
  }
  kept.reset();
  EXPECT_EQ(events(), "-1");
}

}  // namespace
}  // namespace ohm::test
