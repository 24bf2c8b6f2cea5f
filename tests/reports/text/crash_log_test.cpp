// Messages as they stand in logs, each with what is true of it (tests/recorded_jobs/messages.py).
#include "reports/text/crash_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "reports/conclusion/oom_cause.h"
#include "reports/console/why_text.h"
#include "tests/support/golden.h"
#include "tests/support/text.h"

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
  constexpr const char* kNames[] = {"too_large",     "large_request", "fraction",      "fragmented",
                                    "other_process", "outside",       "private_pools", "full",
                                    "shared",        "not_said",      "cut_off"};
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

TEST(CrashLog, IsReadBesideAndWithinVeryLongLines) {
  const std::string message =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "
      "capacity of 22.17 GiB of which 1.71 GiB is free. Including non-PyTorch memory, this process "
      "has 20.45 GiB memory in use. Of the allocated memory 19.00 GiB is allocated by PyTorch, and "
      "1.00 GiB is reserved by PyTorch but unallocated.";
  const std::string many(200'000, 'a');
  std::vector<std::string> logs = {"/" + many + "\n" + message, "File \"" + many + "\n" + message,
                                   "File " + many + "\n" + message,
                                   std::string(200'000, '-') + "\n" + message};
  for (std::size_t before = 3'600; before < 4'100; before += 61) {
    logs.push_back(fmt::format("{} {} {}", std::string(before, 'x'), message, many));
  }
  for (const std::string& text : logs) {
    const std::optional<CrashLog> log = parse_crash_log(text);
    ASSERT_TRUE(log && log->message) << text.find("torch.");
    EXPECT_EQ(20 * 0x1p20, log->message->requested.bytes) << text.find("torch.");
    EXPECT_FALSE(log->message->is_cut) << text.find("torch.");
  }
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

TEST(CrashLog, IsExplainedInWholeSentencesWhereLinesAreFew) {
  const std::string library =
      "/usr/local/lib/python3.10/dist-packages/transformers/models/llama/modeling_llama.py";
  const std::optional<CrashLog> log = parse_crash_log(fmt::format(
      "  File \"/app/serve.py\", line 77, in predict\n  File \"{}\", line 413, in forward\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 6.25 GiB. GPU 0 has a total "
      "capacity of 23.65 GiB of which 3.50 GiB is free. Process 3741 has 20.14 GiB memory in use. "
      "Of the allocated memory 18.90 GiB is allocated by PyTorch, and 800.00 MiB is reserved by "
      "PyTorch but unallocated.",
      library));
  ASSERT_TRUE(log);
  for (const std::size_t columns : {72U, 80U, 100U, 400U}) {
    const std::string text = why_text(*log, columns);
    const std::string said = text.substr(0, text.find("To learn what held it"));
    EXPECT_TRUE(said.ends_with(".\n")) << text;
    EXPECT_NE(std::string::npos, said.find("/app/serve.py:77")) << text;
    EXPECT_EQ(columns == 400, said.find(library) != std::string::npos) << text;
  }
}

// ---- logs that were cut -------------------------------------------------------------------------

using Figure = std::optional<PrintedBytes>;

bool is_same_or_absent(const Figure& part, const Figure& whole) {
  return !part || (whole && part->bytes == whole->bytes && part->rounding == whole->rounding);
}

bool is_same_or_absent(const std::optional<LogPlace>& part, const std::optional<LogPlace>& whole) {
  return !part || (whole && part->file == whole->file && part->line == whole->line &&
                   (part->function.empty() || part->function == whole->function));
}

/// Which figure of a message that was cut the whole one does not have; empty: none.
std::string wrong_figure(const OomMessage& part, const OomMessage& whole) {
  if (!is_same_or_absent(part.requested, whole.requested)) return "requested";
  if (!is_same_or_absent(part.capacity, whole.capacity)) return "capacity";
  if (!is_same_or_absent(part.free, whole.free)) return "free";
  if (!is_same_or_absent(part.allocated, whole.allocated)) return "allocated";
  if (!is_same_or_absent(part.reserved, whole.reserved)) return "reserved";
  if (!is_same_or_absent(part.allowed, whole.allowed)) return "allowed";
  if (!is_same_or_absent(part.this_process, whole.this_process)) return "this process";
  if (!is_same_or_absent(part.private_pools, whole.private_pools)) return "private pools";
  if (part.gpu && part.gpu != whole.gpu) return "gpu";
  const auto is_of_whole = [&](const PrintedBytes& process) {
    return std::any_of(whole.other_processes.begin(), whole.other_processes.end(),
                       [&](const PrintedBytes& one) { return one.bytes == process.bytes; });
  };
  const bool are_others =
      std::all_of(part.other_processes.begin(), part.other_processes.end(), is_of_whole);
  return are_others ? "" : "another process";
}

/// "24.00", "16,112" and the like, each once.
std::set<std::string> numbers_in(const std::string& text) {
  std::set<std::string> numbers;
  std::string number;
  for (const char c : text + " ") {
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit || (!number.empty() && (c == '.' || c == ','))) {
      number += c;
    } else if (!number.empty()) {
      number.resize(number.find_last_of("0123456789") + 1);
      numbers.insert(number);
      number.clear();
    }
  }
  return numbers;
}

/// What a part of a log is wrong about; empty: nothing.
std::string what_is_wrong(const std::optional<CrashLog>& part,
                          const std::optional<CrashLog>& whole) {
  if (!part) return "";
  if (!whole) return part->is_certain ? "a message" : "";
  if (part->message && !whole->message) return "PyTorch's message";
  if (!is_same_or_absent(part->place, whole->place)) return "the line";
  if (!is_same_or_absent(part->request, whole->request)) return "the request";
  if (part->message) return wrong_figure(*part->message, *whole->message);
  const std::set<std::string> numbers = numbers_in(part->what);
  const std::set<std::string> known = numbers_in(whole->what);
  const bool are_known = std::includes(known.begin(), known.end(), numbers.begin(), numbers.end());
  return are_known ? "" : part->what;
}

/// By a log's limit, a terminal, a copy and paste. Messages at every 31st byte, each from another
/// byte on, so that most words are cut; with what collected them and tracebacks at every 293rd.
TEST(CrashLog, OfAnyPartOfALogSaysNothingWrong) {
  std::size_t cut_messages = 0;
  std::size_t number = 0;
  for (const Sample& sample : samples()) {
    const std::optional<CrashLog> whole = parse_crash_log(sample.text);
    const std::size_t bytes = sample.name.ends_with("_plain") ? 31 : 293;
    for (std::size_t at = ++number * 7 % bytes; at < sample.text.size(); at += bytes) {
      for (const std::string& text : {sample.text.substr(0, at), sample.text.substr(at)}) {
        const std::optional<CrashLog> part = parse_crash_log(text);
        const std::string wrong = what_is_wrong(part, whole);
        ASSERT_EQ("", wrong) << sample.name << " at " << at << ":\n" << text;
        if (!part || !part->message || !part->message->is_cut) continue;
        ++cut_messages;
        const OomCause cause = cause_of(*part->message);
        ASSERT_TRUE(cause == OomCause::cut_off || cause == OomCause::too_large) << text;
      }
    }
  }
  EXPECT_GT(cut_messages, 300U);
}

TEST(CrashLog, OfAMessageThatBreaksOffSaysWhatIsThere) {
  const std::string message =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total "
      "capacity of 79.15 GiB of which 1.24 GiB is free. Process 4711 has 47.99 GiB memory in use. "
      "Including non-PyTorch memory, this process has 30.10 GiB memory in use. Of the allocated "
      "memory 29.20 GiB is allocated by PyTorch, and 400.00 MiB is reserved by PyTorch but "
      "unallocated.";
  const auto why = [&](std::string_view until) {
    const std::optional<CrashLog> log = parse_crash_log(message.substr(0, message.find(until)));
    if (!log) return std::string("unknown");
    const std::string text = test::on_one_line(why_text(*log, 100));
    return text.substr(0, text.find(" To learn what held it"));
  };
  const std::string cut = " The message ends before the figures that say why.";
  EXPECT_EQ("unknown", why("GiB. GPU"));
  EXPECT_EQ("PyTorch ran out of memory on the GPU: 2.00 GiB requested." + cut, why(". GPU"));
  EXPECT_EQ("PyTorch ran out of memory on the GPU: 2.00 GiB requested." + cut,
            why("5 GiB of which"));
  EXPECT_EQ("PyTorch ran out of memory on GPU 1 of 79.15 GiB: 2.00 GiB requested." + cut,
            why(" GiB is free"));
  EXPECT_EQ(
      "PyTorch ran out of memory on GPU 1 of 79.15 GiB: 2.00 GiB requested with 1.24 GiB "
      "free. Tensors hold 29.20 GiB." +
          cut,
      why(" MiB is reserved"));
  EXPECT_EQ(std::string::npos, why("(never)").find(cut));
}

TEST(CrashLog, OfAMessageThatBreaksOffTakesTheNextOne) {
  const std::string whole =
      "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 3; 10.92 GiB total "
      "capacity; 10.31 GiB already allocated; 11.50 MiB free; 10.34 GiB reserved in total by "
      "PyTorch)\n";
  const std::optional<CrashLog> log = parse_crash_log(
      "RuntimeError: CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 10.92 "
      "GiB total capacity; 10.3\n" +
      whole);
  ASSERT_TRUE(log && log->message);
  EXPECT_EQ(3, log->message->gpu);
  EXPECT_EQ(OomCause::full, cause_of(*log->message));
}

TEST(CrashLog, AFigureThatNoMemoryHasIsNoFigure) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"CUDA out of memory. Tried to allocate 1e30 GiB. GPU 0 has a total capacity of 8.00 GiB of "
       "which 1.00 GiB is free.",
       "unknown"},
      {"CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 1e30 GiB of "
       "which -1.00 GiB is free. Of the allocated memory 1e400 GiB is allocated by PyTorch, and "
       "nan "
       "MiB is reserved by PyTorch but unallocated.",
       "PyTorch ran out of memory on the GPU: 2.00 GiB requested. The message ends"},
      {"Out of memory allocating 99999999999999999999999999999999 bytes (allocated so far: 512 "
       "bytes).",
       "CuPy ran out of memory: more than 16 EiB requested, with 512 B in CuPy's pool."},
      {"OOM when allocating tensor with shape[4294967296,4294967296,4294967296] and type double on "
       "GPU:0",
       "TensorFlow ran out of memory: a tensor of shape [4294967296,4294967296,4294967296] of type "
       "double, more than 16 EiB, did not fit."},
      {"Out of memory allocating " + std::string(400, '9') + " bytes (allocated so far: 0 bytes).",
       "CuPy ran out of memory: more than 16 EiB requested, with 0 B in CuPy's pool."}};
  for (const auto& [text, says] : cases) {
    const std::optional<CrashLog> log = parse_crash_log(text + "\n");
    const std::string why = log ? test::on_one_line(why_text(*log, 100)) : "unknown";
    EXPECT_TRUE(why.starts_with(says)) << why;
    EXPECT_FALSE(log && log->request) << text;
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
