#include "harness/slurm/slurm_commands.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cctype>
#include <charconv>
#include <cstdio>
#include <sstream>

#include "harness/process/shell_quote.h"

namespace ohm::engine {

namespace {

struct CommandOutput {
  int status = 0;  ///< of the exit
  std::string text;
};

/// Of both streams, without the last end of a line.
CommandOutput output_of(const std::vector<std::string>& words) {
  std::FILE* const pipe = ::popen((shell_command(words) + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) throw SlurmUnavailable("cannot start a shell");
  CommandOutput output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    output.text += static_cast<char>(c);
  }
  const int status = ::pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  while (!output.text.empty() && output.text.back() == '\n') output.text.pop_back();
  return output;
}

/// What a shell says of a command that is not there.
constexpr int kNotFound = 127;

[[noreturn]] void throw_not_found(const char* command) {
  throw SlurmUnavailable(
      fmt::format("{} was not found: install Slurm's commands on this machine, as on the login "
                  "nodes of a cluster",
                  command));
}

/// The words of a line between bars.
std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  std::istringstream words(line);
  for (std::string word; std::getline(words, word, '|');) columns.push_back(word);
  return columns;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

CommandOutput output_of_sbatch(const std::string& first, const std::vector<std::string>& options,
                               const std::string& script,
                               const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"sbatch", first};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(script);
  words.insert(words.end(), arguments.begin(), arguments.end());
  CommandOutput output = output_of(words);
  if (output.status == kNotFound) throw_not_found("sbatch");
  return output;
}

[[noreturn]] void throw_refused(const CommandOutput& output) {
  throw std::invalid_argument(fmt::format("Slurm refused the job: {}", output.text));
}

}  // namespace

SlurmJob submit_job(const std::vector<std::string>& options, const std::string& script,
                    const std::vector<std::string>& arguments) {
  const CommandOutput output = output_of_sbatch("--parsable", options, script, arguments);
  // It may warn before it prints the number; on a cluster of clusters ";NAME" follows it.
  const std::string last = output.text.substr(output.text.rfind('\n') + 1);
  const std::string job = last.substr(0, last.find(';'));
  if (output.status == 0 && is_number(job)) return job;
  throw_refused(output);
}

void test_job(const std::vector<std::string>& options, const std::string& script) {
  const CommandOutput output = output_of_sbatch("--test-only", options, script, {});
  if (output.status != 0) throw_refused(output);
}

std::map<SlurmTask, std::string> tasks_of(std::string_view squeue_text) {
  std::map<SlurmTask, std::string> tasks;
  std::istringstream lines{std::string(squeue_text)};
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> columns = columns_of(line);
    if (columns.size() != 3 || !is_number(columns[0]) || !is_number(columns[1])) continue;
    tasks[{columns[0], std::stoul(columns[1])}] = columns[2];
  }
  return tasks;
}

std::map<SlurmTask, std::string> queued_tasks() {
  // All of the user's: it fails for the number of a job that it has forgotten.
  const CommandOutput output =
      output_of({"squeue", "--me", "--noheader", "--array", "--format=%F|%K|%T"});
  if (output.status == kNotFound) throw_not_found("squeue");
  if (output.status != 0) {
    throw SlurmUnavailable(fmt::format("squeue does not answer: {}", output.text));
  }
  return tasks_of(output.text);
}

std::string end_of_task(const SlurmTask& task) {
  const CommandOutput output =
      output_of({"sacct", "--noheader", "--parsable2", "--allocations", "--format=JobID,State",
                 fmt::format("--jobs={}_{}", task.job, task.number)});
  if (output.status != 0) return {};
  const std::vector<std::string> columns =
      columns_of(output.text.substr(0, output.text.find('\n')));
  return columns.size() == 2 ? columns[1] : std::string();
}

void cancel_jobs(const std::vector<SlurmJob>& jobs) {
  if (jobs.empty()) return;
  std::vector<std::string> words = {"scancel"};
  words.insert(words.end(), jobs.begin(), jobs.end());
  output_of(words);
}

std::string array_text(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace ohm::engine
