#include "harness/exec/job_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "harness/exec/python_protocol.h"
#include "harness/exec/python_start.h"
#include "harness/process/program_file.h"

namespace ohm::engine {

namespace {

std::string found_program(const std::string& name) {
  const char* search_path = std::getenv("PATH");
  return find_program(name, search_path == nullptr ? "" : search_path);
}

/// Python, or a program of that name and a version: "python3.13t". A script that is called
/// "python_job" is the user's, and not to be run for an answer.
bool is_python(const std::string& path) {
  constexpr std::string_view kName = "python";
  constexpr std::array<std::string_view, 5> kBuilds = {"", "d", "t", "td", "-dbg"};
  const std::string file = std::filesystem::path(path).filename();
  if (!file.starts_with(kName)) return false;
  const std::size_t end =
      std::min(file.find_first_not_of("0123456789.", kName.size()), file.size());
  return std::find(kBuilds.begin(), kBuilds.end(), file.substr(end)) != kBuilds.end();
}

/// The words after "#!"; none: it is not a script.
std::vector<std::string> interpreter_words(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string mark(2, '\0');
  stream.read(mark.data(), static_cast<std::streamsize>(mark.size()));
  std::string line;
  if (mark != "#!" || !std::getline(stream, line)) return {};
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

/// The Python that runs the command; empty: none, or it cannot be told.
std::string python_of(const std::string& path) {
  if (is_python(path)) return path;
  const std::vector<std::string> words = interpreter_words(path);
  if (words.empty()) return {};
  const bool is_searched = std::filesystem::path(words.front()).filename() == "env";
  const std::size_t place = is_searched ? 1 : 0;
  if (words.size() <= place || !is_python(words[place])) return {};
  try {
    return found_program(words[place]);
  } catch (const std::invalid_argument&) {
    return {};  // the command itself will say so
  }
}

/// Of an option of Python's, as in -uB: its letters end where its argument begins.
void check_python_option(std::string_view option, bool& takes_next, bool& is_last) {
  for (std::size_t i = 1; i < option.size(); ++i) {
    const char letter = option[i];
    if (letter == 'I' || letter == 'E' || letter == 'S') {
      throw std::invalid_argument(
          fmt::format("python -{} would not import the recorder: remove -{}", letter, letter));
    }
    is_last = letter == 'c' || letter == 'm';
    takes_next = (letter == 'W' || letter == 'X') && i + 1 == option.size();
    if (is_last || letter == 'W' || letter == 'X') return;
  }
}

void check_python_options(const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word.front() != '-' || word == "--") return;
    if (word.starts_with("--")) continue;
    bool takes_next = false;
    bool is_last = false;
    check_python_option(word, takes_next, is_last);
    if (is_last) return;
    if (takes_next) ++i;
  }
}

}  // namespace

ChildCommand recorded_command(const std::vector<std::string>& words,
                              const JobRecording& recording) {
  ChildCommand command;
  command.path = found_program(words.front());
  command.words = words;
  if (is_python(command.path)) check_python_options(words);
  add_python_start(command);
  command.environment.emplace_back(python::kRecordFileVariable, recording.file);
  command.environment.emplace_back(python::kRecordNamesVariable, recording.names);
  command.environment.emplace_back(python::kRecordEventsVariable,
                                   fmt::to_string(recording.most_events));
  // Empty is as good as none: an outer recording may have asked for more.
  const auto set = [&](const char* name, const std::string& value) {
    command.environment.emplace_back(name, value);
  };
  set(python::kRecordStepsVariable, recording.steps == 0 ? "" : fmt::to_string(recording.steps));
  set(python::kRecordAllStepsVariable, recording.has_all_steps ? "1" : "");
  set(python::kRecordNoStacksVariable, recording.has_stacks ? "" : "1");
  set(python::kRecordModulesVariable, recording.names_modules ? "1" : "");
  return command;
}

std::string lack_of_torch(const CommandRunner& runner, const ChildCommand& command,
                          const std::string& folder) {
  constexpr double kMostSeconds = 60;
  ChildCommand probe;
  probe.path = python_of(command.path);
  if (probe.path.empty()) return {};
  probe.words = {probe.path, python_start_file("ohm_torch_probe.py")};
  probe.output = std::filesystem::path(folder) / "probe.out";
  probe.errors = std::filesystem::path(folder) / "probe.err";
  probe.timeout_seconds = kMostSeconds;
  const CommandEnd end = runner.run(probe);
  if (end.asked_to_end != 0) throw CommandInterrupted(end.asked_to_end);
  std::ifstream output(probe.output, std::ios::binary);
  // A Python that cannot do it will say so better when it starts the job.
  if (end.status != 0) return {};
  return {std::istreambuf_iterator<char>(output), {}};
}

}  // namespace ohm::engine
