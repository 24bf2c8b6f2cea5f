#include "harness/run/worker_messages.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "tests/reports/filled.h"

namespace ohm::engine {
namespace {

MeasuredVariant measured() {
  MeasuredVariant variant;
  variant.outcome = Outcome::oom;
  variant.steps = 7;
  DeviceResult device;
  device.device = "cuda:0";
  device.peak_by_category[2] = 5;
  variant.devices = {device};
  variant.allocated_at_marks = {{1, 2, 3}};
  variant.oom = OomResult{};
  variant.oom->message = "CUDA out of memory.";
  variant.oom->holders = {{512, 1, Category::input, "randn", "x.lua", 3}};
  variant.values = {{"loss", {"float32", {2}, {0.5, -1}, {}, true, {}}}};
  return variant;
}

TEST(WorkerMessages, BringBackWhatWasSent) {
  const MeasuredVariant variant = decoded_variant(encoded(measured()));
  EXPECT_EQ(Outcome::oom, variant.outcome);
  EXPECT_EQ(7, variant.steps);
  EXPECT_EQ("cuda:0", variant.devices.at(0).device);
  EXPECT_EQ(5, variant.devices.at(0).peak_by_category[2]);
  EXPECT_EQ(measured().allocated_at_marks, variant.allocated_at_marks);
  EXPECT_EQ("CUDA out of memory.", variant.oom.value().message);
  EXPECT_EQ("randn", variant.oom.value().holders.at(0).op);
  EXPECT_FALSE(variant.error.has_value());
  EXPECT_EQ((std::vector<double>{0.5, -1}), variant.values.at(0).second.values);
}

TEST(WorkerMessages, CarryEveryMemberOfAResult) {
  MeasuredVariant sent;
  sent.devices = {test::filled<DeviceResult>()};
  sent.host = test::filled<HostResult>();
  sent.history = test::filled<MemoryHistory>();
  sent.retention = test::filled<RetentionResult>();
  sent.oom = test::filled<OomResult>();
  sent.error = test::filled<ErrorResult>();
  const MeasuredVariant arrived = decoded_variant(encoded(sent));
  test::Differences differences;
  differences.compare(sent.devices.at(0), arrived.devices.at(0));
  differences.compare(sent.host, arrived.host);
  differences.compare(*sent.history, arrived.history.value());
  differences.compare(*sent.retention, arrived.retention.value());
  differences.compare(*sent.oom, arrived.oom.value());
  differences.compare(*sent.error, arrived.error.value());
  EXPECT_EQ(std::set<std::string>(), differences.names());
}

TEST(WorkerMessages, DescribeAScenario) {
  LoadedScenario loaded;
  loaded.description.name = "leak";
  loaded.description.gpu.capacity_bytes = 1024;
  loaded.description.variants.resize(2);
  loaded.description.variants[1].raises = "out of range";
  const LoadedScenario decoded = decoded_scenario(encoded(loaded));
  EXPECT_EQ("leak", decoded.description.name);
  EXPECT_EQ(1024U, decoded.description.gpu.capacity_bytes);
  EXPECT_EQ("out of range", decoded.description.variants.at(1).raises);
}

TEST(WorkerMessages, EveryTruncationIsRecognised) {
  const std::string whole = encoded(measured());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(decoded_variant(whole.substr(0, length)), std::runtime_error) << length;
  }
}

}  // namespace
}  // namespace ohm::engine
