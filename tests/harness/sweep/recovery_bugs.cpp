#include "tests/harness/sweep/recovery_bugs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <stdexcept>

#include "harness/lua/scenario_loader.h"
#include "harness/sweep/sweep.h"

namespace ohm::test {
namespace {

namespace fs = std::filesystem;

class NobodyLooks final : public engine::SweepObserver {
 public:
  void on_progress(std::size_t /*finished*/, std::size_t /*total*/) override {}
  void on_scenario(const SweptScenario& /*scenario*/) override {}
};

/// Reads the comments above the programs of one file.
class CommentReader {
 public:
  explicit CommentReader(std::string file) : file_(std::move(file)) {}

  void read(const std::string& line, std::vector<RecoveryProgram>& programs) {
    static const std::regex kProgram(R"(\s*programs\.(\w+) = .*)");
    static const std::regex kVerdict(R"(-- (\w+): (.*))");
    static const std::regex kMore(R"(-- (.*))");
    std::smatch match;
    if (std::regex_match(line, match, kProgram)) {
      if (program_.verdict.empty()) {
        throw std::runtime_error(
            fmt::format("{}: the comment above {} names no verdict", file_, match[1].str()));
      }
      program_.file = file_;
      program_.name = match[1];
      programs.push_back(std::move(program_));
      program_ = {};
    } else if (std::string* const reason = reason_of(line)) {
      sentence_ = reason;
      *sentence_ = line.substr(line.find(": ") + 2);
    } else if (std::regex_match(line, match, kVerdict) && is_verdict(match[1])) {
      program_ = {};
      program_.verdict = match[1];
      sentence_ = &program_.bug;
      *sentence_ = match[2];
    } else if (std::regex_match(line, match, kMore) && sentence_ != nullptr) {
      *sentence_ += " " + match[1].str();
    } else {
      sentence_ = nullptr;
    }
  }

 private:
  /// Where the reason belongs that begins in this line; nullptr: none does.
  std::string* reason_of(const std::string& line) {
    if (line.starts_with("-- Not found: ")) return &program_.not_found;
    if (line.starts_with("-- Not found by default: ")) return &program_.not_by_default;
    if (line.starts_with("-- Wrong without values: ")) return &program_.needs_values;
    return nullptr;
  }

  static bool is_verdict(const std::string& word) {
    return word == "good" ||
           std::any_of(kFaultVerdicts.begin(), kFaultVerdicts.end(),
                       [&](const FaultVerdictName& known) { return known.name == word; });
  }

  std::string file_;
  RecoveryProgram program_;
  std::string* sentence_ = nullptr;  ///< that goes on in the next line
};

std::string key_of(const std::string& file, const std::string& name) { return file + " " + name; }

std::vector<std::string> bad_verdicts_of(const SweptVariant& variant) {
  std::vector<std::string> bad;
  for (std::size_t i = 0; i < kFaultVerdicts.size(); ++i) {
    if (variant.verdicts[i] != 0 && !kFaultVerdicts[i].is_good) {
      bad.emplace_back(kFaultVerdicts[i].name);
    }
  }
  return bad;
}

}  // namespace

std::vector<RecoveryProgram> recovery_programs(const std::string& folder) {
  std::set<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".lua") files.insert(entry.path().string());
  }
  std::vector<RecoveryProgram> programs;
  for (const std::string& path : files) {
    CommentReader reader(path);
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) reader.read(line, programs);
  }
  return programs;
}

bool CorpusSweep::finds(const RecoveryProgram& program) const {
  const std::vector<std::string>& bad = bad_verdicts.at(key_of(program.file, program.name));
  return std::find(bad.begin(), bad.end(), program.verdict) != bad.end();
}

bool CorpusSweep::is_clean(const RecoveryProgram& program) const {
  return bad_verdicts.at(key_of(program.file, program.name)).empty();
}

CorpusSweep sweep_corpus(const std::vector<RecoveryProgram>& programs,
                         engine::SweepOptions options) {
  for (const RecoveryProgram& program : programs) {
    std::vector<std::string>& files = options.run.files;
    if (files.empty() || files.back() != program.file) files.push_back(program.file);
  }
  for (const RecoveryProgram& program : programs) {
    options.run.selection.cases.push_back(program.name);
  }
  // What has no end here goes round in a few lines.
  options.trials.limits.cpu_seconds = 0.3;
  NobodyLooks observer;
  const engine::SweepOutcome outcome = engine::run_sweep(options, lua::load_scenario, observer);
  CorpusSweep sweep;
  for (const SweptScenario& scenario : outcome.result.scenarios) {
    if (scenario.error) throw std::runtime_error(scenario.error->message);
    for (const SweptVariant& variant : scenario.variants) {
      if (variant.error) {
        throw std::runtime_error(
            fmt::format("{} {}: {}", scenario.name, variant.name, variant.error->message));
      }
      sweep.faults += variant.faults;
      sweep.bad_verdicts[key_of(scenario.file, variant.name)] = bad_verdicts_of(variant);
    }
  }
  return sweep;
}

}  // namespace ohm::test
