// ohm verify-device: its report, in shards, of several cards, and what is known when it goes on.
#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/harness/program/cuda_program_test.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/golden.h"
#include "tests/support/schema_check.h"

namespace ohm {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;
using test::ProgramResult;
using testing::HasSubstr;

class VerifyDevice : public test::CudaProgramTest {
 protected:
  void SetUp() override {
    CudaProgramTest::SetUp();
    card_is(0);
    folder_.write("product.lua", test::scenario_with_problem(R"lua(
      local a = ohm.ones({2, 2}, {device = device})
      return {product = ohm.mm(a, a)})lua"));
  }
  void TearDown() override {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    CudaProgramTest::TearDown();
  }

  /// From now on the program sees this card alone, of a machine with two.
  static void card_is(int ordinal, const std::string& more = "") {
    ::setenv("CUDA_VISIBLE_DEVICES", std::to_string(ordinal).c_str(), 1);
    machine_is("devices=2 capacity=134217728 visible=environment " + more);
  }
  ProgramResult verify(const Words& more, const std::string& report) const {
    Words words = {"verify-device", "segments.lua", "good.lua"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--report", "json=" + report});
    return ohm(words);
  }
  Json report(const std::string& name) const { return Json::parse(text(name)); }
  std::string text(const std::string& name) const { return test::read_file(file(name)); }

  /// "a1.json" is shard 1 of so many.
  void verify_shards(const std::string& name, int count, const Words& more = {}) const {
    for (int i = 1; i <= count; ++i) {
      Words words = more;
      words.insert(words.end(), {"--shard", std::to_string(i) + "/" + std::to_string(count)});
      verify(words, name + std::to_string(i) + ".json");
    }
  }
  ProgramResult merge(Words files) const {
    files.insert(files.begin(), "merge");
    return ohm(files);
  }
  void expect_refused(const Words& files, const std::string& why) const {
    const ProgramResult refused = merge(files);
    EXPECT_EQ(refused.code, 2) << why;
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr(why));
  }
};

TEST_F(VerifyDevice, ReportsAsJsonWhatItSays) {
  const ProgramResult told = verify({}, "card.json");
  EXPECT_EQ(told.code, 0) << told.err;
  const Json json = report("card.json");
  const Json schema = Json::parse(
      test::read_file(std::string(OHM_SOURCE_DIR) + "/reports/json/ohm.verification.schema.json"));
  EXPECT_EQ(test::SchemaCheck(schema).errors(json), "");
  EXPECT_EQ(json["exit_reason"], "passed");
  ASSERT_EQ(json["cards"].size(), 1);
  const Json& card = json["cards"][0]["card"];
  EXPECT_EQ(card["devices"], Json::parse(R"([{"name": "Stand-in 0", "compute_capability": "8.0",
                             "memory_bytes": 134217728}])"));
  EXPECT_EQ(card["driver"], "13.0");
  EXPECT_EQ(card["libraries"][0], Json::parse(R"({"name": "cuBLAS", "version": "13.0.1"})"));
  const Json& variants = json["cards"][0]["variants"];
  ASSERT_EQ(variants.size(), 5);
  EXPECT_EQ(variants[0]["name"], "segments.two");
  EXPECT_EQ(variants[0]["outcome"], "same");
  EXPECT_EQ(variants[0]["card_events"], variants[0]["virtual_events"]);
  EXPECT_THAT(told.out, HasSubstr("card     Stand-in 0 (128.00 MiB, compute capability 8.0), "
                                  "driver for CUDA 13.0\n"));
  EXPECT_EQ(ohm({"verify-device", "segments.lua", "good.lua", "--json"}).out, text("card.json"));
  // The text is made of what the report says.
  EXPECT_EQ(merge({"card.json", "-o", "again.json"}).out, told.out);
  EXPECT_EQ(text("again.json"), text("card.json"));
}

TEST_F(VerifyDevice, ReportReadsWhatItWrote) {
  const ProgramResult told = verify({}, "card.json");
  EXPECT_EQ(ohm({"report", "card.json"}).out, told.out);
  EXPECT_EQ(ohm({"report", "card.json", "-o", "copy.json"}).out, "");
  EXPECT_EQ(text("copy.json"), text("card.json"));
  const ProgramResult refused = ohm({"report", "card.json", "-o", "card.html"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("unknown report format \"html\"; known: json"));
  EXPECT_EQ(ohm({"report", "card.json", "--sweep", "card.json"}).code, 2);
  folder_.write("damaged.json", R"({"schema": "ohm.verification/1", "cards": 3})");
  const ProgramResult damaged = ohm({"report", "damaged.json"});
  EXPECT_NE(damaged.code, 0);
  EXPECT_THAT(damaged.err, HasSubstr("damaged.json: "));
}

TEST_F(VerifyDevice, ReportsWhatDiffersAndWhatIsMissing) {
  machine_is("capacity=33554432");
  EXPECT_EQ(verify({"--case", "two"}, "small.json").code, 1);
  const Json small = report("small.json");
  EXPECT_EQ(small["exit_reason"], "failed");
  const Json& variant = small["cards"][0]["variants"][0];
  EXPECT_EQ(variant["outcome"], "differs");
  EXPECT_EQ(variant["differences"][0]["is_on_card"], false);
  EXPECT_EQ(variant["differences"][0]["ordinal"], 2);
  EXPECT_EQ(variant["differences"][0]["bytes"], 16777216);
  card_is(0);
  ::setenv("OHM_CUDNN", "libthere-is-none.so.1", 1);
  EXPECT_EQ(verify({}, "without.json").code, 6);
  const Json without = report("without.json");
  EXPECT_EQ(without["exit_reason"], "unavailable");
  EXPECT_THAT(without["cards"][0]["card"]["libraries"][2]["missing"].get<std::string>(),
              HasSubstr("libthere-is-none.so.1"));
  folder_.write("broken.lua", "x = = 1");
  EXPECT_EQ(ohm({"verify-device", "broken.lua", "--report", "json=broken.json"}).code, 1);
  EXPECT_EQ(report("broken.json")["cards"][0]["variants"][0]["outcome"], "error");
}

TEST_F(VerifyDevice, ShardsAreMergedToTheBytesOfTheWhole) {
  folder_.write("summed.lua", test::scenario_with_check(R"lua(
    local x = ohm.ones({32, 32}, {device = device, dtype = "int32"}) * 2
    ohm.mm(x, x)
    error("?"))lua"));
  const ProgramResult whole = verify({"summed.lua"}, "whole.json");
  EXPECT_EQ(whole.code, 0) << whole.out;
  EXPECT_THAT(whole.out, HasSubstr("         mm: 1 times, 4.00 KiB\n"));
  // Of seven shards one has nothing to do.
  for (const int count : {3, 7}) {
    verify_shards("part", count, {"summed.lua"});
    Words parts;
    for (int i = count; i > 0; --i) parts.push_back("part" + std::to_string(i) + ".json");
    EXPECT_EQ(report(parts.back())["shard"], Json({{"number", 1}, {"count", count}}));
    parts.insert(parts.end(), {"-o", "merged.json"});
    const ProgramResult merged = merge(parts);
    EXPECT_EQ(merged.code, 0) << merged.err;
    EXPECT_EQ(merged.out, whole.out);
    EXPECT_EQ(text("merged.json"), text("whole.json"));
  }
}

TEST_F(VerifyDevice, TheMergedExitCodeIsThatOfTheWhole) {
  // One shard finds what differs, both miss a library: what differs outweighs it.
  ::setenv("OHM_CUDNN", "libthere-is-none.so.1", 1);
  card_is(0, "wrong=cublasGemmEx");
  const Words files = {"product.lua"};
  EXPECT_EQ(verify(files, "whole.json").code, 1);
  verify_shards("part", 2, files);
  EXPECT_EQ(report("part1.json")["exit_reason"], "unavailable");
  EXPECT_EQ(report("part2.json")["exit_reason"], "failed");
  EXPECT_EQ(merge({"part1.json", "part2.json", "-o", "merged.json"}).code, 1);
  EXPECT_EQ(text("merged.json"), text("whole.json"));
  // Nothing at all is not a success.
  EXPECT_EQ(verify({"--filter", "x"}, "whole.json").code, 5);
  verify_shards("part", 2, {"--filter", "x"});
  EXPECT_EQ(merge({"part1.json", "part2.json", "-o", "merged.json"}).code, 5);
  EXPECT_EQ(text("merged.json"), text("whole.json"));
}

TEST_F(VerifyDevice, CardsBecomeATableEach) {
  const ProgramResult first = verify({"product.lua"}, "zero.json");
  EXPECT_EQ(first.code, 0) << first.out;
  verify_shards("zero", 2, {"product.lua"});
  card_is(1, "wrong=cublasGemmEx");
  const ProgramResult second = verify({"product.lua"}, "one.json");
  EXPECT_EQ(second.code, 1) << second.out;
  verify_shards("one", 2, {"product.lua"});
  const ProgramResult both = merge({"one.json", "zero.json", "-o", "both.json"});
  EXPECT_EQ(both.code, 1) << both.err;
  EXPECT_EQ(both.out, first.out + "\n" + second.out);
  Json expected = report("zero.json");
  expected["cards"].push_back(report("one.json")["cards"][0]);
  expected["exit_reason"] = report("one.json")["exit_reason"];
  EXPECT_EQ(report("both.json"), expected);
  // In shards, in any order, and where one of the cards is whole already.
  EXPECT_EQ(merge({"zero2.json", "one1.json", "one2.json", "zero1.json"}).out, text("both.json"));
  EXPECT_EQ(merge({"one2.json", "zero.json", "one1.json"}).out, text("both.json"));
  const Json schema = Json::parse(
      test::read_file(std::string(OHM_SOURCE_DIR) + "/reports/json/ohm.verification.schema.json"));
  EXPECT_EQ(test::SchemaCheck(schema).errors(report("both.json")), "");
}

TEST_F(VerifyDevice, MergesNothingThatDoesNotFit) {
  verify({}, "whole.json");
  verify_shards("zero", 2);
  card_is(1);
  verify_shards("one", 2);
  const std::string zero = " of Stand-in 0 (128.00 MiB, compute capability 8.0)";
  const std::string one = " of Stand-in 1 (128.00 MiB, compute capability 8.0)";
  expect_refused({"zero1.json", "one1.json", "one2.json"}, "shard 2/2" + zero);
  expect_refused({"zero1.json", "zero2.json", "zero1.json"}, "shard 1/2" + zero);
  expect_refused({"zero1.json", "whole.json"}, "not a shard: it covers all of the work");
  expect_refused({"whole.json", "whole.json"}, "not a shard: it covers all of the work");
  // Nodes that were taken for the same.
  const std::string mixed = merge({"zero1.json", "one2.json"}).err;
  EXPECT_THAT(mixed, HasSubstr("shard 2/2" + zero));
  EXPECT_THAT(mixed, HasSubstr("one2.json is shard 2/2" + one));
  EXPECT_THAT(mixed, HasSubstr("all of a table have to be of one card"));
  // Other work, on the same card and on another one.
  for (const char* const other : {"zero2.json", "one2.json"}) {
    Json json = report(other);
    json["work"]["settings"]["version"] = "0.0.1";
    folder_.write("other.json", json.dump());
    const bool is_same_card = std::string(other) == "zero2.json";
    expect_refused(is_same_card ? Words{"zero1.json", "other.json"}
                                : Words{"whole.json", "one1.json", "other.json"},
                   "its version is \"0.0.1\", not ");
  }
  card_is(1);
  verify({"--limit", "1GiB"}, "limited.json");
  expect_refused({"whole.json", "limited.json"}, "its limit is \"1073741824\", not ");
  EXPECT_EQ(ohm({"verify-device", "good.lua", "--report", "json=files.json"}).code, 0);
  expect_refused({"whole.json", "files.json"}, "of other work than whole.json: ");
  ohm({"run", "good.lua", "good.lua", "--shard", "2/2", "--report", "json=run.json"});
  expect_refused({"zero1.json", "run.json"}, "its schema is \"ohm.result/1\", not ");
}

TEST_F(VerifyDevice, MergesNothingThatIsDamaged) {
  verify_shards("part", 2);
  const auto refuses = [&](const std::string& pointer, const Json& value, const std::string& why) {
    Json json = report("part2.json");
    json[Json::json_pointer(pointer)] = value;
    folder_.write("damaged.json", json.dump());
    expect_refused({"part1.json", "damaged.json"}, why);
  };
  refuses("/cards", nullptr, "\"cards\" is not a list");
  refuses("/cards", Json::array(), "a shard is of one card");
  refuses("/cards/0/card", 7, "is not an object");
  refuses("/cards/0/variants/0/name", 7, "\"name\" is not a text");
  refuses("/cards/0/variants", Json::array(), "shard 2 has 0 variants, and shard 1 has 3");
  refuses("/shard/number", 3, "there is no shard 3/2");
}

TEST_F(VerifyDevice, WhatWasInterruptedStaysInterrupted) {
  verify_shards("part", 2);
  Json json = report("part2.json");
  json["exit_reason"] = "interrupted";
  folder_.write("part2.json", json.dump());
  EXPECT_EQ(Json::parse(merge({"part1.json", "part2.json"}).out)["exit_reason"], "interrupted");
}

TEST_F(VerifyDevice, GoesOnFromWhatIsKnownOfTheSameCard) {
  const ProgramResult whole = verify({}, "whole.json");
  EXPECT_EQ(verify({"--resume", "known"}, "first.json").code, 0);
  // On this card nothing can be done again.
  card_is(0, "fail=cuMemAlloc_v2:0:700");
  const ProgramResult resumed = verify({"--resume", "known"}, "again.json");
  EXPECT_EQ(resumed.out, whole.out) << resumed.err;
  EXPECT_EQ(text("again.json"), text("whole.json"));
  // What is known is not of this one.
  card_is(1, "fail=cuMemAlloc_v2:0:700");
  EXPECT_EQ(verify({"--resume", "known"}, "other.json").code, 1);
  EXPECT_EQ(report("other.json")["cards"][0]["variants"][0]["outcome"], "error");
  const ProgramResult refused = ohm({"verify-device", "good.lua", "--resume", "known"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("known: of other work"));
}

TEST_F(VerifyDevice, RefusesOptionsThatMakeNoSense) {
  const auto refused = [&](const Words& options) {
    Words words = {"verify-device", "good.lua"};
    words.insert(words.end(), options.begin(), options.end());
    const ProgramResult result = ohm(words);
    EXPECT_EQ(result.code, 2) << result.out;
    return result.err;
  };
  EXPECT_THAT(refused({"--shard", "3/2"}), HasSubstr("--shard: "));
  EXPECT_THAT(refused({"--report", "html=out.html"}), HasSubstr("html"));
  EXPECT_THAT(refused({"--report", "json=same", "--resume", "same"}), HasSubstr("same"));
  EXPECT_THAT(refused({"--shard", "1/2", "--write-profile", "p.json"}),
              HasSubstr("--write-profile needs all variants"));
  EXPECT_THAT(refused({"--card-types", "a100"}),
              HasSubstr("--card-types: requires --launcher slurm"));
  const auto launched = [&](Words options) {
    options.insert(options.end(), {"--launcher", "slurm", "--resume", "n", "--shards", "2"});
    return refused(options);
  };
  EXPECT_THAT(launched({"--write-profile", "p.json"}),
              HasSubstr("--write-profile needs all variants"));
  EXPECT_THAT(launched({"--card-types", "a 100"}), HasSubstr("\"a 100\" is not a card type"));
  EXPECT_THAT(launched({"--card-types", "../a"}), HasSubstr("\"../a\" is not a card type"));
  EXPECT_THAT(launched({"--card-types", "a100,a100"}), HasSubstr("a100 is given twice"));
  EXPECT_THAT(launched({"--card-types", "a100", "--slurm-option=--gres=gpu:1"}),
              HasSubstr("--slurm-option=--gres=gpu:1: --card-types already requests the cards"));
  const Words run = {"run",          "good.lua", "--launcher", "slurm", "--resume", "n",
                     "--shards",     "2",        "--gpu",      "cuda",  "--report", "json=out",
                     "--card-types", "a100,h100"};
  const ProgramResult several = ohm(run);
  EXPECT_EQ(several.code, 2);
  EXPECT_THAT(several.err, HasSubstr("each type of cards has a report of its own, in the folder of "
                                     "--resume: merged-a100.json"));
  const ProgramResult no_card = ohm({"run", "good.lua", "--launcher", "slurm", "--resume", "n",
                                     "--shards", "2", "--card-types", "a100"});
  EXPECT_EQ(no_card.code, 2);
  EXPECT_THAT(no_card.err, HasSubstr("--card-types: requires real cards (--gpu cuda)"));
}

}  // namespace
}  // namespace ohm
