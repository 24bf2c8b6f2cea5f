#include "harness/lua/vm/reference_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ohm::lua {
namespace {

/// Values a, b, c, … that refer to each other.
class ReferenceCountsTest : public testing::Test {
 protected:
  ReferenceCounts::Node& node(char name) {
    const void* const content = &memory_.at(static_cast<std::size_t>(name - 'a'));
    ReferenceCounts::Node* known = counts_.find(content);
    return known != nullptr ? *known : counts_.add({content, raw::kTable});
  }
  void refer(char from, char to) {
    references_.emplace_back(from, to);
    counts_.refer(node(from), node(to));
  }
  void drop(char from, char to) {
    std::erase(references_, std::pair(from, to));
    counts_.drop_reference(node(from), node(to));
  }

  /// What died, in the order of their names; "?" where that cannot be told.
  std::string dead() {
    std::string names;
    const bool is_settled = counts_.settle([&](ReferenceCounts::Node& dead) {
      const char name =
          static_cast<char>('a' + (static_cast<const char*>(dead.value.content) - memory_.data()));
      names += name;
      const auto before = references_;
      for (const auto& [from, to] : before) {
        if (from == name) drop(from, to);
      }
    });
    std::sort(names.begin(), names.end());
    return is_settled ? names : "?";
  }

  ReferenceCounts counts_;
  std::array<char, 26> memory_{};
  std::vector<std::pair<char, char>> references_;
};

TEST_F(ReferenceCountsTest, WhatNothingRefersToDiesWithAllThatItAloneRefersTo) {
  counts_.enter_stack(node('a'));
  counts_.enter_stack(node('d'));
  refer('a', 'b');
  refer('b', 'c');
  refer('d', 'e');
  refer('a', 'e');
  EXPECT_EQ(dead(), "");
  counts_.leave_stack(node('a'));
  EXPECT_EQ(dead(), "abc");
}

TEST_F(ReferenceCountsTest, WhatAnotherRefersToLivesBehindItsWitness) {
  counts_.enter_stack(node('a'));
  counts_.enter_stack(node('b'));
  refer('a', 'b');
  refer('b', 'a');
  counts_.leave_stack(node('b'));
  EXPECT_EQ(dead(), "");
}

TEST_F(ReferenceCountsTest, ACycleThatNothingElseLeadsToIsNotTold) {
  counts_.enter_stack(node('a'));
  refer('a', 'b');
  refer('b', 'a');
  counts_.leave_stack(node('a'));
  EXPECT_EQ(dead(), "?");
}

TEST_F(ReferenceCountsTest, ACycleOfWhatStaysInCyclesIsKeptWithAllThatItLeadsTo) {
  node('b').stays_in_cycles = true;
  for (const char held : {'a', 'c'}) counts_.enter_stack(node(held));
  refer('a', 'b');
  refer('b', 'a');
  refer('b', 'c');
  for (const char held : {'a', 'c'}) counts_.leave_stack(node(held));
  EXPECT_EQ(dead(), "");
  drop('b', 'a');
  EXPECT_EQ(dead(), "abc");
}

TEST_F(ReferenceCountsTest, TheLastThatCameToReferIsAWitnessToo) {
  for (const char holder : {'a', 'b', 'd'}) {
    counts_.enter_stack(node(holder));
    refer(holder, 'c');
  }
  drop('a', 'c');
  EXPECT_EQ(dead(), "");
  drop('d', 'c');
  EXPECT_EQ(dead(), "?");
}

TEST_F(ReferenceCountsTest, WithoutItsWitnessesAValueIsNotTold) {
  for (const char holder : {'a', 'b', 'd'}) {
    counts_.enter_stack(node(holder));
    refer(holder, 'c');
  }
  drop('d', 'c');
  drop('a', 'c');
  EXPECT_EQ(dead(), "?");
}

TEST_F(ReferenceCountsTest, OneThatRefersTwiceIsAWitnessUntilBothAreDropped) {
  counts_.enter_stack(node('a'));
  refer('a', 'b');
  refer('a', 'b');
  refer('b', 'c');
  drop('a', 'b');
  EXPECT_EQ(dead(), "");
  drop('a', 'b');
  EXPECT_EQ(dead(), "bc");
}

TEST_F(ReferenceCountsTest, ALeafNeedsNoWitness) {
  counts_.enter_stack(node('a'));
  counts_.enter_stack(node('b'));
  refer('a', 'c');
  refer('b', 'c');
  node('c').is_leaf = true;
  drop('a', 'c');
  EXPECT_EQ(dead(), "");
  drop('b', 'c');
  EXPECT_EQ(dead(), "c");
}

TEST_F(ReferenceCountsTest, AProofIsNoneAnyMoreWhereItsEndHasLeftTheStack) {
  counts_.enter_stack(node('a'));
  counts_.enter_stack(node('c'));
  refer('a', 'b');
  refer('b', 'c');
  counts_.leave_stack(node('c'));
  EXPECT_EQ(dead(), "");
  counts_.enter_stack(node('c'));
  counts_.leave_stack(node('a'));
  counts_.leave_stack(node('c'));
  EXPECT_EQ(dead(), "abc");
}

}  // namespace
}  // namespace ohm::lua
