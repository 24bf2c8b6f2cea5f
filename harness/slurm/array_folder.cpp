#include "harness/slurm/array_folder.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "allocator_shim/base/whole_file.h"
#include "harness/process/shell_quote.h"
#include "reports/model/exit_code.h"
#include "reports/text/report_file.h"

namespace ohm::engine {

namespace fs = std::filesystem;

namespace {

/// Names in the order of the numbers.
std::string name_of_shard(std::size_t shard) { return fmt::format("{:05}", shard); }

std::string text_or_nothing(const std::string& path) {
  try {
    return read_whole_file(path);
  } catch (const std::system_error&) {
    return {};
  }
}

/// Throws std::invalid_argument.
void write(const std::string& path, const std::string& text) {
  try {
    reports::ReportFile(path).commit(text);
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(error.what());
  }
}

std::string absolute(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path path = error ? fs::path() : fs::canonical(folder, error);
  if (!error) return path.string();
  throw std::invalid_argument(
      fmt::format("cannot make the folder {}: {}", folder, error.message()));
}

constexpr std::string_view kShardScript = R"sh(#!/bin/sh
# A task of a job array: one of {shards} shards. $1 is added to the task's number; $2, of a
# type of cards, stands before the names of its files.
number=$((SLURM_ARRAY_TASK_ID + $1))
name=$2$(printf %05d "$number")
folder={folder}
# What it finds is in its report; here is why there is none.
exec > /dev/null 2>> "$folder/logs/$name"
cd {here} || exit 2
test -e "$folder/reports/$name.json" && exit 0
test -x {program} || echo "this node has no {program}" >&2
part=$folder/reports/$name.part
rm -f "$part"
run() {{
  {command} --shard "$number/{shards}" {jobs}\
    --resume "$folder/known/$name" --report "json=$part"{started}
  code=$?
}}
run
# What crashed or took too long may have been killed from outside, or on a busy node.
case $code in {crashed} | {timeout}) run ;; esac
# Verdicts that are not good are a report, too: for Slurm the task has done what it was to do. That
# of a run that was interrupted is a part of one.
if test "$code" -lt {interrupted} && test -e "$part"; then
  mv "$part" "$folder/reports/$name.json" && exit 0
fi
rm -f "$part"
echo "$code" > "$folder/ended/$name"
exit "$code"
)sh";

constexpr std::string_view kMergeScript = R"sh(#!/bin/sh
# What all shards found, in one report, or in one for each type of cards.
cd {here} || exit 2
worst=0
merge() {{
  merged=$1
  shift
  {program} merge "$@" -o "$merged"
  code=$?
  test -e "$merged" || worst=$code
}}
{merges}exit "$worst"
)sh";

bool sets_jobs(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    if (word.starts_with("-j") || word.starts_with("--jobs")) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> array_folder_of(const std::string& known) {
  const fs::path folder = fs::absolute(known).parent_path();
  std::error_code unknown;
  const bool is_one =
      folder.filename() == "known" && fs::exists(folder.parent_path() / "shard.sh", unknown);
  return is_one ? std::optional(folder.parent_path().string()) : std::nullopt;
}

ArrayFolder::ArrayFolder(const ArrayWork& work)
    : folder_(absolute(work.folder)),
      card_types_(work.card_types),
      joins_card_types_(work.joins_card_types) {
  for (std::size_t type = 0; type < groups(); ++type) {
    for (const char* const part : {"known/", "logs/", "reports/", "ended/"}) {
      absolute(path_of(part + prefix_of(type)));
    }
    for (std::size_t shard = 1; shard <= work.shards; ++shard) pieces_.push_back({type, shard});
  }
  write_scripts(work);
  make_checkpoints(work);
}

void ArrayFolder::write_scripts(const ArrayWork& work) const {
  const std::string here = shell_quoted(fs::current_path().string());
  const std::string program = shell_quoted(work.program);
  std::vector<std::string> words = {work.program};
  words.insert(words.end(), work.command.begin(), work.command.end());
  const bool adds_jobs = work.takes_jobs && !sets_jobs(work.command);
  const std::string jobs = !adds_jobs ? "" : "-j \"${SLURM_CPUS_ON_NODE:-1}\" ";
  write(
      shard_script(),
      fmt::format(
          kShardScript, fmt::arg("shards", work.shards), fmt::arg("folder", shell_quoted(folder_)),
          fmt::arg("here", here), fmt::arg("program", program), fmt::arg("jobs", jobs),
          fmt::arg("command", shell_command(words)),
          fmt::arg("started", work.started.empty() ? "" : " -- " + shell_command(work.started)),
          fmt::arg("crashed", ohm::exit_code(ExitReason::internal_error).code),
          fmt::arg("timeout", ohm::exit_code(ExitReason::timeout).code),
          fmt::arg("interrupted", ohm::exit_code(ExitReason::interrupted).code)));
  std::string all;
  for (const ArrayMerge& merge : merges()) {
    std::vector<std::string> call = {"merge", merge.merged};
    call.insert(call.end(), merge.reports.begin(), merge.reports.end());
    all += shell_command(call) + "\n";
  }
  write(merge_script(), fmt::format(kMergeScript, fmt::arg("here", here),
                                    fmt::arg("program", program), fmt::arg("merges", all)));
}

std::vector<ArrayMerge> ArrayFolder::merges() const {
  const ArrayMerge all = {"", {path_of("reports")}, path_of("merged.json")};
  if (card_types_.empty()) return {all};
  std::vector<ArrayMerge> merges;
  if (joins_card_types_) merges.push_back({"", {}, all.merged});
  for (const std::string& type : card_types_) {
    const std::string reports = path_of("reports/" + type);
    if (joins_card_types_) {
      merges.front().reports.push_back(reports);
    } else {
      merges.push_back({type, {reports}, path_of("merged-" + type + ".json")});
    }
  }
  return merges;
}

/// With the beginning alone: a task refuses it on a node with another ohm or other files.
void ArrayFolder::make_checkpoints(const ArrayWork& work) const {
  for (const ArrayPiece& piece : pieces_) {
    const std::string path = known_path(piece);
    std::error_code unknown;
    if (fs::exists(path, unknown)) continue;
    // Thousands of them: none is waited for, and of one that is cut off a shard writes the rest.
    const std::string beginning = checkpoint_beginning(work.described(piece.shard));
    if (std::ofstream(path) << beginning << std::flush) continue;
    throw std::invalid_argument("cannot write " + path);
  }
}

std::string ArrayFolder::prefix_of(std::size_t card_type) const {
  return card_types_.empty() ? "" : card_types_[card_type] + "/";
}

std::string ArrayFolder::path_in(const std::string& part, const ArrayPiece& piece) const {
  return path_of(part + prefix_of(piece.card_type) + name_of_shard(piece.shard));
}

std::string ArrayFolder::known_path(const ArrayPiece& piece) const {
  return path_in("known/", piece);
}

std::string ArrayFolder::log_path(const ArrayPiece& piece) const { return path_in("logs/", piece); }

std::set<ArrayPiece> ArrayFolder::finished() const {
  std::set<ArrayPiece> finished;
  const std::size_t shards = pieces_.size() / groups();
  for (std::size_t type = 0; type < groups(); ++type) {
    std::error_code gone;
    // The names alone: to ask for each file takes a network's file system much longer.
    for (const fs::directory_entry& entry :
         fs::directory_iterator(path_of("reports/" + prefix_of(type)), gone)) {
      const std::string name = entry.path().filename().string();
      std::size_t shard = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), shard);
      const bool is_report = error == std::errc() && std::string_view(end) == ".json";
      if (is_report && shard >= 1 && shard <= shards) finished.insert({type, shard});
    }
  }
  return finished;
}

std::optional<int> ArrayFolder::exit_code(const ArrayPiece& piece) const {
  const std::string text = text_or_nothing(path_in("ended/", piece));
  int code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  return error == std::errc() ? std::optional(code) : std::nullopt;
}

std::string ArrayFolder::log_end(const ArrayPiece& piece) const {
  constexpr std::size_t kMost = 600;
  std::string text = text_or_nothing(log_path(piece));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty()) {
    return fmt::format("{} is empty: do the nodes share this folder, and can they write to it?",
                       log_path(piece));
  }
  if (text.size() > kMost) text = "…" + text.substr(text.size() - kMost);
  return fmt::format("{} ends with: {}", log_path(piece), text);
}

void ArrayFolder::forget_end(const ArrayPiece& piece) const {
  std::error_code ignored;
  fs::remove(path_in("ended/", piece), ignored);
}

}  // namespace ohm::engine
