#include "allocator_shim/caching/trace_file.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "allocator_shim/caching/trace_runner.h"

namespace ohm {
namespace {

TEST(TraceFile, KeepsHeadersAndOperations) {
  const Trace trace = parse_trace(
      "# conf max_split_size_mb:64\n# capacity 1048576\n# va firstfit\n\na 1 100 2\nf 1\nx 0.5\n");
  EXPECT_EQ(trace.headers.size(), 3U);
  EXPECT_EQ(trace.settings, "max_split_size_mb:64");
  EXPECT_EQ(trace.capacity_bytes, 1'048'576U);
  EXPECT_EQ(trace.address_order, AddressOrder::lowest_gap);
  ASSERT_EQ(trace.operations.size(), 3U);
  EXPECT_EQ(trace.operations[0].line, 5U);
  EXPECT_EQ(trace.operations[0].bytes, 100U);
  EXPECT_EQ(trace.operations[0].stream, 2U);
  EXPECT_EQ(trace.operations[2].fraction, 0.5);
}

TEST(TraceFile, NamesTheLineThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> kCases = {
      {"a 1 100\n", "line 1: a trace says what it ran on: # capacity BYTES"},
      {"# capacity lots\n", "line 1: expected a number of bytes, found \"lots\""},
      {"# capacity 1\nq\n", "line 2: unknown operation \"q\""},
      {"# capacity 1\na 1\n", "line 2: expected a number of bytes, found \"\""},
      {"# capacity 1\na one 5\n", "line 2: expected an id, found \"one\""},
      {"# capacity 1\na 1 5 0 7\n", "line 2: nothing may follow: \" 7\""},
      {"# capacity 1\nx 1.5\n", "line 2: a fraction is between 0 and 1"},
      {"# capacity 1\nf -1\n", "line 2: expected an id, found \"-1\""}};
  for (const auto& [text, message] : kCases) {
    try {
      parse_trace(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(), message);
    }
  }
}

TEST(TraceRunner, RefusesIdsThatAreInUseOrUnknown) {
  const Trace trace = parse_trace("# capacity 67108864\na 1 100\na 1 100\nf 2\n");
  TraceRunner runner(trace);
  runner.run(trace.operations[0]);
  EXPECT_THROW(runner.run(trace.operations[1]), std::invalid_argument);
  EXPECT_THROW(runner.run(trace.operations[2]), std::invalid_argument);
}

TEST(TraceRunner, CanRunOnAnotherDeviceWithOtherSettings) {
  const Trace trace = parse_trace("# capacity 67108864\na 1 40000000\n");
  TraceRunOptions options;
  options.capacity_bytes = 20'000'000;
  options.settings = "expandable_segments:True";
  TraceRunner runner(trace, options);
  EXPECT_EQ(runner.run(trace.operations[0]).status, TraceRunner::Status::out_of_memory);
  EXPECT_TRUE(runner.allocator().settings().expandable_segments);
}

}  // namespace
}  // namespace ohm
