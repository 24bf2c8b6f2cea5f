#include "harness/cli/launcher_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "harness/cli/merge_command.h"
#include "harness/cli/option_values.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/terminal.h"
#include "harness/run/shard_work.h"
#include "harness/slurm/array_run.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

constexpr std::string_view kSlurm = "slurm";

/// What shards are not given.
struct OwnOption {
  std::string_view name;
  bool has_value;
};

constexpr std::array kOwnOptions = {
    OwnOption{"--launcher", true},   OwnOption{"--shards", true},
    OwnOption{"--resume", true},     OwnOption{"--slurm-option", true},
    OwnOption{"--report", true},     OwnOption{"--color", true},
    OwnOption{"--card-types", true}, OwnOption{"--json", false},
    OwnOption{"--quiet", false},     OwnOption{"-q", false},
    OwnOption{"--verbose", false},   OwnOption{"-v", false},
    OwnOption{"--watch", false},     OwnOption{"--plot", false},
    OwnOption{"--tighten", false}};

/// It is the name of a folder, too.
bool is_type_name(const std::string& name) {
  const auto is_of_it = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  };
  return !name.empty() && std::isalnum(static_cast<unsigned char>(name.front())) != 0 &&
         std::all_of(name.begin(), name.end(), is_of_it);
}

void say(const std::string& text) { write_stderr("ohm: " + reports::printable(text) + "\n"); }

/// Where people wait a line that is drawn over, and everywhere what is worth to be kept.
class ArrayPrinter final : public engine::ArrayObserver {
 public:
  void on_submitted(const std::vector<engine::SlurmJob>& jobs) override {
    erase();
    say(fmt::format("submitted as Slurm's {} {}", jobs.size() == 1 ? "job" : "jobs",
                    fmt::join(jobs, ", ")));
  }
  void on_counts(const engine::ArrayCounts& counts) override {
    if (!is_stderr_animated()) return;
    write_stderr(fmt::format("\r\x1b[K{} of {} shards, {} running, {} waiting{}", counts.finished,
                             counts.shards, counts.running, counts.waiting,
                             counts.submitted_again == 0
                                 ? ""
                                 : fmt::format(", {} submitted again", counts.submitted_again)));
    is_drawn_ = true;
  }
  void on_again(const std::string& shard, const std::string& how) override {
    erase();
    say(fmt::format("shard {} ended without a report{}: submitted again", shard,
                    how.empty() ? "" : fmt::format(" ({})", how)));
  }
  void erase() {
    if (is_drawn_) write_stderr("\r\x1b[K");
    is_drawn_ = false;
  }

 private:
  bool is_drawn_ = false;
};

/// Whether a user at a terminal wants the jobs to be ended.
bool wants_cancelled(const std::string& jobs) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return false;
  write_stderr(fmt::format("ohm: cancel {}? Otherwise they continue. [y/N] ", jobs));
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

std::string merged_paths(const engine::ArrayFolder& folder) {
  std::vector<std::string> paths;
  for (const engine::ArrayMerge& merge : folder.merges()) paths.push_back(merge.merged);
  return fmt::format("{}", fmt::join(paths, ", "));
}

void leave(const engine::ArrayRun& run) {
  const std::vector<engine::SlurmJob> jobs = run.jobs_at_work();
  if (jobs.empty()) return;
  if (wants_cancelled(fmt::format("Slurm's jobs {}", fmt::join(jobs, ", ")))) {
    engine::cancel_jobs(jobs);
    return say("cancelled; rerun the same command to resume");
  }
  say(
      fmt::format("the jobs continue, and the last one writes {}; rerun the same command to follow "
                  "them, or end them with scancel {}",
                  merged_paths(run.folder()), fmt::join(jobs, " ")));
}

std::string own_path() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw UsageError("cannot find the path of this program: " + error.message());
  return path.string();
}

engine::ArrayWork array_work(const LauncherOptions& options, const LaunchedCommand& command) {
  engine::ArrayWork work;
  work.folder = command.folder;
  work.program = own_path();
  work.command = {command.name};
  const std::vector<std::string> words = words_of_shards(command.words);
  work.command.insert(work.command.end(), words.begin(), words.end());
  work.command.insert(work.command.end(), command.more.begin(), command.more.end());
  work.started = command.started;
  work.takes_jobs = command.takes_jobs;
  work.shards = options.shards;
  work.card_types = options.card_types;
  work.joins_card_types = command.joins_card_types;
  // Files and the program do not change from shard to shard, and are read once.
  const engine::CheckpointedWork all = command.described({0, options.shards});
  work.described = [all, shards = options.shards,
                    has_types = !options.card_types.empty()](std::size_t shard) {
    engine::CheckpointedWork described = all;
    described.settings["shard"] =
        shard == 0 ? engine::all_shards_text(shards) : fmt::format("{}/{}", shard, shards);
    // Which types may change: those that are finished stay, new ones are submitted.
    if (shard == 0) described.settings["card_types"] = has_types ? "some" : "none";
    return described;
  };
  return work;
}

}  // namespace

std::vector<std::string> words_of_shards(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const auto* const own = std::find_if(kOwnOptions.begin(), kOwnOptions.end(),
                                         [&](const OwnOption& one) { return one.name == name; });
    if (own == kOwnOptions.end()) {
      kept.push_back(words[i]);
    } else if (own->has_value && name == words[i]) {
      ++i;
    }
  }
  return kept;
}

void add_launcher_options(const OptionParser& parser, LauncherOptions& options) {
  parser
      .add_option("--launcher", options.launcher,
                  "slurm: submit the work as a job array in the folder of --resume, which the "
                  "nodes share with this machine, wait for it, and merge the reports")
      .type_name("NAME");
  parser
      .add_option("--shards", options.shards,
                  "Number of shards that the launcher divides the work into")
      .check(not_negative())
      .type_name("N");
  parser
      .add_option("--slurm-option", options.slurm_options,
                  "Option for sbatch, as in --slurm-option=--partition=x; repeatable")
      .type_name("OPTION")
      .one_value_each();
}

void check_launcher(const LauncherOptions& options, const std::string& resume,
                    const std::string& shard) {
  constexpr std::size_t kMostShards = 99999;
  if (!options.is_used()) {
    if (options.shards != 0) throw UsageError("--shards: requires --launcher slurm");
    if (!options.slurm_options.empty())
      throw UsageError("--slurm-option: requires --launcher slurm");
    return;
  }
  if (options.launcher != kSlurm) {
    throw UsageError(fmt::format("--launcher must be slurm, not \"{}\"", options.launcher));
  }
  if (resume.empty()) {
    throw UsageError("--launcher slurm: name a folder that the nodes share, as in --resume night");
  }
  if (options.shards == 0 || options.shards > kMostShards) {
    throw UsageError(fmt::format(
        "--launcher slurm: give the number of shards, up to {}: --shards 64", kMostShards));
  }
  if (!shard.empty()) throw UsageError("--shard: the launcher creates the shards itself");
}

void add_card_types_option(const OptionParser& parser, LauncherOptions& options) {
  parser
      .add_option("--card-types", options.card_types,
                  "With --launcher: repeat the work on a card of each of these types, as Slurm "
                  "names them: a100,h100 requests gpu:a100:1 and gpu:h100:1")
      .type_name("NAME,...")
      .delimiter(',')
      .one_value_each();
}

void check_card_types(const LauncherOptions& options, bool is_on_cuda) {
  const std::vector<std::string>& types = options.card_types;
  if (types.empty()) return;
  if (!options.is_used()) throw UsageError("--card-types: requires --launcher slurm");
  if (!is_on_cuda) throw UsageError("--card-types: requires real cards (--gpu cuda)");
  for (const std::string& type : types) {
    if (!is_type_name(type)) {
      throw UsageError(fmt::format(
          "--card-types: \"{}\" is not a card type, as a100 is; sinfo --format=%G lists them",
          type));
    }
    if (std::count(types.begin(), types.end(), type) > 1) {
      throw UsageError(fmt::format("--card-types: {} is given twice", type));
    }
  }
  for (const std::string& option : options.slurm_options) {
    if (!option.starts_with("--gres") && !option.starts_with("--gpus")) continue;
    throw UsageError(
        fmt::format("--slurm-option={}: --card-types already requests the cards", option));
  }
}

void check_reports_of_card_types(const LauncherOptions& options,
                                 const std::vector<std::string>& reports) {
  if (options.card_types.size() < 2 || reports.empty()) return;
  throw UsageError(
      fmt::format("--report {}: each type of cards has a report of its own, in the folder of "
                  "--resume: merged-{}.json, which ohm report shows",
                  reports.front(), options.card_types.front()));
}

LaunchedReport launched_report(const LauncherOptions& options, const LaunchedCommand& command) {
  ArrayPrinter printer;
  return parsed("--launcher slurm", [&]() -> LaunchedReport {
    engine::ArrayRun run(array_work(options, command), {options.slurm_options}, printer);
    const int early = command.prepare();
    if (early != 0) return {{}, {}, early};
    const int signal = run.follow();
    printer.erase();
    if (signal != 0) {
      leave(run);
      return {{}, {}, signal};
    }
    LaunchedReport report;
    for (const engine::ArrayMerge& merge : run.folder().merges()) {
      report.merged.push_back({merge.card_type, merged_files(merge.reports).json});
      write_file(merge.merged, report.merged.back().json);
    }
    for (const engine::ArrayPiece& piece : run.folder().pieces()) {
      report.known.push_back(run.folder().known_path(piece));
    }
    return report;
  });
}

}  // namespace ohm::cli
