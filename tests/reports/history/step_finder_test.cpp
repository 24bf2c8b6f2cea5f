// Steps of a program that has no marks.
#include "reports/history/step_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ohm::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Requests = std::vector<std::uint64_t>;

void append(Requests& requests, const Requests& more) {
  requests.insert(requests.end(), more.begin(), more.end());
}

TEST(StepFinder, FindsALoopBetweenWhatComesBeforeAndAfter) {
  Requests requests = {100, 101, 102};
  for (int step = 0; step < 4; ++step) append(requests, {1, 2, 3, 2});
  append(requests, {200, 201});
  EXPECT_THAT(find_steps(requests), ElementsAre(3, 7, 11, 15, 19));
}

TEST(StepFinder, AFirstStepThatMakesMoreIsAStep) {
  Requests requests = {100};
  append(requests, {1, 2, 3, 50, 51, 52});
  for (int step = 0; step < 4; ++step) append(requests, {1, 2, 3});
  EXPECT_THAT(find_steps(requests), ElementsAre(1, 7, 10, 13, 16, 19));
}

TEST(StepFinder, ARequestThatTheFirstStepMakesMoreOftenIsNoBeginning) {
  Requests requests = {100};
  append(requests, {1, 2, 50, 7, 7, 3, 7});
  for (int step = 0; step < 7; ++step) append(requests, {1, 2, 3, 7});
  const std::vector<std::size_t> begins = find_steps(requests);
  EXPECT_EQ(8U + 1, begins.size());
  EXPECT_EQ(1U, begins.front());
}

TEST(StepFinder, LoopsInsideOfAStepAreNotTheSteps) {
  Requests requests;
  for (int step = 0; step < 3; ++step) {
    append(requests, {1});
    for (int layer = 0; layer < 12; ++layer) append(requests, {10, 11, 12});
    append(requests, {2, 3});
  }
  EXPECT_THAT(find_steps(requests), ElementsAre(0, 39, 78, 117));
}

TEST(StepFinder, AProgramWithoutALoopHasNoSteps) {
  Requests requests;
  for (std::uint64_t i = 0; i < 100; ++i) requests.push_back(i * i);
  EXPECT_THAT(find_steps(requests), IsEmpty());
  EXPECT_THAT(find_steps({}), IsEmpty());
  EXPECT_THAT(find_steps({1, 1}), IsEmpty());
}

TEST(StepFinder, AShortLoopInALongProgramIsNotItsSteps) {
  Requests requests;
  for (std::uint64_t i = 0; i < 100; ++i) requests.push_back(1000 + i);
  for (int step = 0; step < 5; ++step) append(requests, {1, 2});
  EXPECT_THAT(find_steps(requests), IsEmpty());
}

}  // namespace
}  // namespace ohm::reports
