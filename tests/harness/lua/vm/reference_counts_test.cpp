#include "harness/lua/vm/reference_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
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
  void refer(char from, char to) { refer_by({from, to}); }
  void drop(char from, char to) { drop({from, to}); }
  /// `key` is a weak key of `table`, and `value` is under it.
  void put(char table, char key, char value) { refer_by({key, value, table}); }

  /// What died, in the order of their names; "?" where that cannot be told.
  std::string dead() {
    std::string names;
    const bool is_settled = counts_.settle([&](ReferenceCounts::Node& dead) {
      const char name =
          static_cast<char>('a' + (static_cast<const char*>(dead.value.content) - memory_.data()));
      names += name;
      const auto before = references_;
      for (const Reference& reference : before) {
        if (reference.from == name || reference.table == name) drop(reference);
      }
    });
    std::sort(names.begin(), names.end());
    return is_settled ? names : "?";
  }

  ReferenceCounts counts_;
  std::array<char, 26> memory_{};

 private:
  struct Reference {
    char from;
    char to;
    char table = '\0';
    friend bool operator==(const Reference&, const Reference&) = default;
  };

  ReferenceCounts::Reference counted(const Reference& reference) {
    return {&node(reference.from), reference.table == '\0' ? nullptr : &node(reference.table)};
  }
  void refer_by(const Reference& reference) {
    references_.push_back(reference);
    ReferenceCounts::refer(counted(reference), node(reference.to));
  }
  void drop(const Reference& reference) {
    std::erase(references_, reference);
    counts_.drop_reference(counted(reference), node(reference.to));
  }

  std::vector<Reference> references_;
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

// Each value of a list that is linked both ways, with something in it that was handed on.
TEST(ReferenceCounts, AreSettledInAFewStepsBesideALongList) {
  constexpr std::size_t kValues = 50'000;
  ReferenceCounts counts;
  const std::vector<char> memory(3 * kValues);
  const auto node = [&](std::size_t number) -> ReferenceCounts::Node& {
    return counts.add({&memory[number], raw::kTable});
  };
  const auto none_died = [&] {
    bool is_none = true;
    return counts.settle([&](ReferenceCounts::Node& /*dead*/) { is_none = false; }) && is_none;
  };
  ReferenceCounts::Node* last = &node(0);
  counts.enter_stack(*last);  // for good
  counts.enter_stack(*last);
  for (std::size_t i = 1; i < kValues; ++i) {
    ReferenceCounts::Node& next = node(3 * i);
    ReferenceCounts::Node& giver = node(3 * i + 1);
    ReferenceCounts::Node& given = node(3 * i + 2);
    for (ReferenceCounts::Node* held : {&next, &giver}) counts.enter_stack(*held);
    ReferenceCounts::refer({&giver}, given);
    ReferenceCounts::refer({&next}, given);
    counts.drop_reference({&giver}, given);
    ReferenceCounts::refer({&next}, *last);
    ReferenceCounts::refer({last}, next);
    counts.leave_stack(*last);
    ASSERT_TRUE(none_died());
    last = &next;
  }
  EXPECT_LT(counts.steps(), 10 * kValues);
}

TEST_F(ReferenceCountsTest, AProofIsNoneAnyMoreWhereItsWayIsBroken) {
  for (const char held : {'a', 'b', 'c', 'd'}) counts_.enter_stack(node(held));
  refer('a', 'b');
  refer('b', 'c');
  refer('c', 'd');
  refer('d', 'c');
  for (const char held : {'b', 'c', 'd'}) counts_.leave_stack(node(held));
  EXPECT_EQ(dead(), "");
  drop('b', 'c');
  EXPECT_EQ(dead(), "?");
}

TEST_F(ReferenceCountsTest, AValueUnderAWeakKeyLivesAsLongAsKeyAndTable) {
  for (const char held : {'t', 'k', 'v', 'l', 'w'}) counts_.enter_stack(node(held));
  put('t', 'k', 'v');
  put('t', 'l', 'w');
  refer('v', 'w');  // not a leaf
  for (const char held : {'v', 'w'}) counts_.leave_stack(node(held));
  EXPECT_EQ(dead(), "");
  counts_.leave_stack(node('k'));
  EXPECT_EQ(dead(), "kv");
  counts_.leave_stack(node('t'));
  EXPECT_EQ(dead(), "tw");
}

TEST_F(ReferenceCountsTest, AValueUnderAWeakKeyIsNoProofOfItsTable) {
  for (const char held : {'t', 'k'}) counts_.enter_stack(node(held));
  put('t', 'k', 'v');
  refer('v', 't');
  counts_.leave_stack(node('t'));
  EXPECT_EQ(dead(), "?");
}

TEST_F(ReferenceCountsTest, ValuesOfTwoTablesAreNoProofOfThem) {
  for (const char held : {'s', 't', 'k'}) counts_.enter_stack(node(held));
  put('s', 'k', 'v');
  put('t', 'k', 'w');
  refer('v', 't');
  refer('w', 's');
  EXPECT_EQ(dead(), "");
  counts_.leave_stack(node('s'));
  EXPECT_EQ(dead(), "");
  counts_.leave_stack(node('t'));
  EXPECT_EQ(dead(), "?");
}

TEST_F(ReferenceCountsTest, AValueThatLeadsToItsWeakKeyIsNotTold) {
  for (const char held : {'t', 'k'}) counts_.enter_stack(node(held));
  put('t', 'k', 'v');
  refer('v', 'k');
  EXPECT_EQ(dead(), "");
  counts_.leave_stack(node('k'));
  EXPECT_EQ(dead(), "?");
}

TEST_F(ReferenceCountsTest, AProofThroughAWeakKeyIsOneOfItsTimeAlone) {
  for (const char held : {'t', 'k', 'v'}) counts_.enter_stack(node(held));
  put('t', 'k', 'v');
  refer('v', 'w');
  refer('w', 't');
  counts_.enter_stack(node('w'));
  for (const char held : {'v', 'w'}) counts_.leave_stack(node(held));
  EXPECT_EQ(dead(), "");
  counts_.leave_stack(node('t'));
  EXPECT_EQ(dead(), "?");
}

TEST_F(ReferenceCountsTest, WhatStaysInCyclesIsNotKeptByAWeakKey) {
  for (const char held : {'t', 'k'}) counts_.enter_stack(node(held));
  node('k').stays_in_cycles = true;
  put('t', 'k', 'v');
  refer('v', 'k');
  counts_.leave_stack(node('k'));
  EXPECT_EQ(dead(), "?");
}

TEST_F(ReferenceCountsTest, TablesThatNeedEachOtherAreFollowedSoFar) {
  counts_.enter_stack(node('a'));
  counts_.enter_stack(node('k'));
  for (char table = 'a'; table < 'j'; ++table) {
    counts_.enter_stack(node(static_cast<char>(table + 1)));
    put(table, 'k', static_cast<char>(table + 1));
    counts_.leave_stack(node(static_cast<char>(table + 1)));
  }
  EXPECT_EQ(dead(), "");
}

}  // namespace
}  // namespace ohm::lua
