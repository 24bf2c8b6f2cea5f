#include "runtime/nn/named_list.h"

#include <gtest/gtest.h>

namespace ohm::nn {
namespace {

struct Entry {
  std::string name;
  int value;
};

NamedList<Entry> list_of(int count) {
  NamedList<Entry> list;
  for (int i = 0; i < count; ++i) list.add({std::to_string(i), i});
  return list;
}

TEST(NamedList, FindsEachEntryHoweverManyThereAre) {
  for (const int count : {0, 1, 16, 17, 18, 500}) {
    const NamedList<Entry> list = list_of(count);
    for (int i = 0; i < count; ++i) EXPECT_EQ(list.find(std::to_string(i)), i) << count;
    EXPECT_EQ(list.find(std::to_string(count)), std::nullopt);
    EXPECT_EQ(list.find(""), std::nullopt);
  }
}

TEST(NamedList, FindsTheFirstOfAName) {
  for (const int count : {4, 40}) {
    NamedList<Entry> list = list_of(count);
    list.add({"3", -1});
    EXPECT_EQ(list.find("3"), 3U) << count;
  }
}

TEST(NamedList, CopiesFindTheirOwn) {
  NamedList<Entry> list = list_of(40);
  NamedList<Entry> copy = list;
  copy.add({"new", 1});
  EXPECT_EQ(copy.find("new"), 40U);
  EXPECT_EQ(list.find("new"), std::nullopt);
}

}  // namespace
}  // namespace ohm::nn
