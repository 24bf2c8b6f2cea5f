// What is found in the recordings of whole programs, of which it is known what is true of them
// (tests/recorded_jobs).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "reports/history/snapshot_result.h"
#include "tests/support/checkout_paths.h"

namespace ohm::reports {
namespace {

struct Job {
  std::string name;
  std::vector<std::string> truths;
};

std::vector<Job> recorded_jobs() {
  std::ifstream file(OHM_RECORDINGS_DIR "/recorded_jobs/truths.tsv");
  std::vector<Job> jobs;
  for (std::string line; std::getline(file, line);) {
    std::istringstream columns(line);
    Job& job = jobs.emplace_back();
    std::getline(columns, job.name, '\t');
    for (std::string truth; std::getline(columns, truth, ',');) job.truths.push_back(truth);
  }
  return jobs;
}

VariantResult recorded_variant(const Job& job) {
  const std::string path = OHM_RECORDINGS_DIR "/recorded_jobs/" + job.name + ".pickle";
  return snapshot_result(read_snapshot_file(path), path).scenarios.at(0).variants.at(0);
}

struct Row {
  int is_true = 0;
  int is_not = 0;
  int found = 0;
  int missed = 0;
  int wrong = 0;
};

constexpr const char* kKinds[] = {"growth per step", "a graph kept alive across steps",
                                  "optimizer state appearing late", "stranded split segments",
                                  "imbalance"};

void print(const std::map<std::string, Row>& table) {
  std::cout << "finding                          true  found  missed  not true  false\n";
  for (const char* kind : kKinds) {
    const Row& row = table.at(kind);
    std::cout << fmt::format("{:31}  {:>4}  {:>5}  {:>6}  {:>8}  {:>5}\n", kind, row.is_true,
                             row.found, row.missed, row.is_not, row.wrong);
  }
}

TEST(RecordedJobs, ShowWhatIsTrueOfThemAndNothingElse) {
  std::map<std::string, Row> table;
  for (const Job& job : recorded_jobs()) {
    const VariantResult variant = recorded_variant(job);
    for (const char* kind : kKinds) {
      Row& row = table[kind];
      const bool is_true = std::count(job.truths.begin(), job.truths.end(), kind) > 0;
      const auto finding = std::find_if(variant.findings.begin(), variant.findings.end(),
                                        [&](const FindingResult& f) { return f.pitfall == kind; });
      const bool is_found = finding != variant.findings.end();
      ++(is_true ? row.is_true : row.is_not);
      row.found += is_true && is_found;
      row.missed += is_true && !is_found;
      row.wrong += !is_true && is_found;
      if (is_true && !is_found) std::cout << "missed in " << job.name << ": " << kind << "\n";
      if (is_found && !is_true) ADD_FAILURE() << job.name << ": " << kind << ": " << finding->what;
    }
  }
  ASSERT_EQ(std::size(kKinds), table.size()) << "no recordings at " OHM_RECORDINGS_DIR;
  print(table);
  for (const auto& [kind, row] : table) {
    EXPECT_GE(row.is_true, 40) << kind;
    EXPECT_GE(row.is_not, 40) << kind;
    EXPECT_GE(row.found, 0.9 * row.is_true) << kind;
  }
}

}  // namespace
}  // namespace ohm::reports
