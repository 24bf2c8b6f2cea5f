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
# A task of an array of jobs: one of {shards} shards. $1 is added to the task's number.
number=$((SLURM_ARRAY_TASK_ID + $1))
name=$(printf %05d "$number")
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
    --resume "$folder/known/$name" --report "json=$part"
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
# What all shards found, in one report.
cd {here} || exit 2
{program} merge {folder} -o {folder}/merged.json
code=$?
test -e {folder}/merged.json && exit 0
exit "$code"
)sh";

bool sets_jobs(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    if (word.starts_with("-j") || word.starts_with("--jobs")) return true;
  }
  return false;
}

}  // namespace

ArrayFolder::ArrayFolder(const ArrayWork& work)
    : folder_(absolute(work.folder)), shards_(work.shards) {
  for (const char* const part : {"known", "logs", "reports", "ended"}) absolute(path_of(part));
  write_scripts(work);
  make_checkpoints(work);
}

void ArrayFolder::write_scripts(const ArrayWork& work) const {
  const std::string here = shell_quoted(fs::current_path().string());
  const std::string program = shell_quoted(work.program);
  std::vector<std::string> words = {work.program};
  words.insert(words.end(), work.command.begin(), work.command.end());
  const std::string jobs = sets_jobs(work.command) ? "" : "-j \"${SLURM_CPUS_ON_NODE:-1}\" ";
  write(shard_script(),
        fmt::format(kShardScript, fmt::arg("shards", shards_),
                    fmt::arg("folder", shell_quoted(folder_)), fmt::arg("here", here),
                    fmt::arg("program", program), fmt::arg("jobs", jobs),
                    fmt::arg("command", shell_command(words)),
                    fmt::arg("crashed", ohm::exit_code(ExitReason::internal_error).code),
                    fmt::arg("timeout", ohm::exit_code(ExitReason::timeout).code),
                    fmt::arg("interrupted", ohm::exit_code(ExitReason::interrupted).code)));
  write(merge_script(),
        fmt::format(kMergeScript, fmt::arg("here", here), fmt::arg("program", program),
                    fmt::arg("folder", shell_quoted(folder_))));
}

/// With the beginning alone: a task refuses it on a node with another ohm or other files.
void ArrayFolder::make_checkpoints(const ArrayWork& work) const {
  for (std::size_t shard = 1; shard <= shards_; ++shard) {
    const std::string path = known_path(shard);
    std::error_code unknown;
    if (fs::exists(path, unknown)) continue;
    // Thousands of them: none is waited for, and of one that is cut off a shard writes the rest.
    if (std::ofstream(path) << checkpoint_beginning(work.described(shard)) << std::flush) continue;
    throw std::invalid_argument("cannot write " + path);
  }
}

std::string ArrayFolder::report_path(std::size_t shard) const {
  return path_of(fmt::format("reports/{}.json", name_of_shard(shard)));
}

std::string ArrayFolder::known_path(std::size_t shard) const {
  return path_of("known/" + name_of_shard(shard));
}

std::string ArrayFolder::log_path(std::size_t shard) const {
  return path_of("logs/" + name_of_shard(shard));
}

std::vector<bool> ArrayFolder::finished() const {
  std::vector<bool> finished(shards_ + 1);
  std::error_code gone;
  // The names alone: to ask for each file takes a network's file system much longer.
  for (const fs::directory_entry& entry : fs::directory_iterator(path_of("reports"), gone)) {
    const std::string name = entry.path().filename().string();
    std::size_t shard = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), shard);
    const bool is_report = error == std::errc() && std::string_view(end) == ".json";
    if (is_report && shard >= 1 && shard <= shards_) finished[shard] = true;
  }
  return finished;
}

std::optional<int> ArrayFolder::exit_code(std::size_t shard) const {
  const std::string text = text_or_nothing(path_of("ended/" + name_of_shard(shard)));
  int code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  return error == std::errc() ? std::optional(code) : std::nullopt;
}

std::string ArrayFolder::log_end(std::size_t shard) const {
  constexpr std::size_t kMost = 600;
  std::string text = text_or_nothing(log_path(shard));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty()) {
    return fmt::format("nothing is in {}: do the nodes have this folder, and can they write there?",
                       log_path(shard));
  }
  if (text.size() > kMost) text = "…" + text.substr(text.size() - kMost);
  return fmt::format("{} ends with: {}", log_path(shard), text);
}

void ArrayFolder::forget_end(std::size_t shard) const {
  std::error_code ignored;
  fs::remove(path_of("ended/" + name_of_shard(shard)), ignored);
}

}  // namespace ohm::engine
