// Messages as they stand in logs, each with what is true of it (tests/recorded_jobs/messages.py).
#include "reports/text/crash_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "reports/console/oom_explanation.h"
#include "reports/console/why_text.h"
#include "tests/support/golden.h"

namespace ohm::reports {
namespace {

struct Sample {
  std::string name;
  std::map<std::string, std::string> facts;
  std::string text;
};

std::vector<Sample> samples() {
  std::ifstream file(test::golden_path("oom_messages.txt"));
  std::vector<Sample> samples;
  bool is_text = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      samples.push_back({line.substr(4), {}, ""});
      is_text = false;
    } else if (is_text) {
      samples.back().text += line + "\n";
    } else if (line.empty()) {
      is_text = true;
    } else {
      const std::size_t colon = line.find(": ");
      samples.back().facts[line.substr(0, colon)] = line.substr(colon + 2);
    }
  }
  return samples;
}

std::string cause_name(const OomMessage& message) {
  constexpr const char* kNames[] = {"too_large",     "fraction", "fragmented",
                                    "other_process", "full",     "not_said"};
  return kNames[static_cast<std::size_t>(cause_of(message))];
}

/// What is read, in the words of the samples.
std::map<std::string, std::string> facts_of(const std::string& text) {
  const std::optional<CrashLog> log = parse_crash_log(text);
  if (!log) return {{"source", "unknown"}};
  std::map<std::string, std::string> facts = {{"source", log->source}};
  if (log->message) {
    facts["cause"] = cause_name(*log->message);
    facts["request"] = human_bytes(static_cast<std::uint64_t>(log->message->requested.bytes));
  }
  if (log->place) facts["place"] = fmt::format("{}:{}", log->place->file, log->place->line);
  return facts;
}

TEST(CrashLog, SaysWhatIsTrueOfEveryMessage) {
  const std::vector<Sample> all = samples();
  EXPECT_GE(all.size(), 120U);
  for (const Sample& sample : all) EXPECT_EQ(sample.facts, facts_of(sample.text)) << sample.name;
}

TEST(CrashLog, IsExplainedInAtMostTenLines) {
  for (const Sample& sample : samples()) {
    const std::optional<CrashLog> log = parse_crash_log(sample.text);
    if (!log) continue;
    for (const std::size_t columns : {80U, 100U}) {
      const std::string text = why_text(*log, columns);
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kMostWhyLines) << text;
      EXPECT_EQ(std::string::npos, text.find("nan")) << text;
    }
  }
}

TEST(CrashLog, CountsTheRanksOfALog) {
  const std::string message =
      ": CUDA out of memory. Tried to allocate 2.00 GiB. GPU {} has a total capacity of 79.15 GiB "
      "of "
      "which 1.24 GiB is free. Including non-PyTorch memory, this process has 77.90 GiB memory in "
      "use. Of the allocated memory 76.61 GiB is allocated by PyTorch, and 790.00 MiB is reserved "
      "by "
      "PyTorch but unallocated.\n";
  std::string text;
  for (int rank = 0; rank < 4; ++rank) {
    text += fmt::format("[rank{}]: torch.OutOfMemoryError", rank);
    text += fmt::format(fmt::runtime(message), rank);
  }
  const std::optional<CrashLog> log = parse_crash_log(text);
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(4U, log->messages);
  EXPECT_EQ((std::vector<int>{0, 1, 2, 3}), log->gpus);
}

TEST(CrashLog, AProcessOfAContainerIsKnownByItsFigures) {
  const OomMessage message = parse_oom_message(
      "Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 14.75 GiB of which 960.00 KiB is "
      "free. Process 2130 has 14.74 GiB memory in use. Of the allocated memory 14.18 GiB is "
      "allocated by PyTorch, and 150.00 MiB is reserved by PyTorch but unallocated.");
  ASSERT_TRUE(message.this_process.has_value());
  EXPECT_TRUE(message.other_processes.empty());
  EXPECT_EQ(OomCause::full, cause_of(message));
}

TEST(CrashLog, AProcessThatLeavesNoRoomForThisOneIsThisOne) {
  // With the graphs and the communicators of a server.
  const OomMessage message = parse_oom_message(
      "Tried to allocate 448.00 MiB. GPU 7 has a total capacity of 95.00 GiB of which 98.00 MiB is "
      "free. Process 12 has 94.89 GiB memory in use. Of the allocated memory 91.50 GiB is "
      "allocated "
      "by PyTorch, with 1.11 GiB allocated in private pools (e.g., CUDA Graphs), and 112.00 MiB is "
      "reserved by PyTorch but unallocated.");
  EXPECT_TRUE(message.other_processes.empty());
  EXPECT_EQ(OomCause::full, cause_of(message));
}

}  // namespace
}  // namespace ohm::reports
