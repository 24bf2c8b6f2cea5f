#include "tests/harness/recordings/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/support/golden.h"

namespace ohm::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAnyOrder = " frees in any order";

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::string folder_of(const RecordedVersion& version) {
  return fmt::format("pytorch/recordings/{}", version.name);
}

// The line as it is on this GPU; nullopt where only the other one has it.
std::optional<std::string_view> line_on(std::string_view line, const RecordedGpu& gpu) {
  if (line.size() < 3 || line[2] != '|') return line;
  if (line.substr(0, 2) != gpu.number) return std::nullopt;
  return line.substr(3);
}

void add_line(Recording& recording, std::string_view line) {
  if (starts_with(line, "gpu ")) {
    recording.gpus.resize(static_cast<std::size_t>(line.back() - '0') + 1);
    return;
  }
  if (starts_with(line, "x ")) {
    recording.error = line.substr(2);
    return;
  }
  if (recording.gpus.empty()) recording.gpus.emplace_back();
  recording.gpus.back().emplace_back(line);
}

TwinProgram parse_head(std::string_view head) {
  const std::size_t end = head.find(' ');
  if (end == std::string_view::npos) return {std::string(head), "", ""};
  return {std::string(head.substr(0, end)), std::string(head.substr(end + 1)), ""};
}

// Orders the frees within each run of them.
void sort_frees(Lines& lines) {
  const auto is_free = [](const std::string& line) { return line[0] == '-'; };
  for (auto from = lines.begin(); from != lines.end();) {
    from = std::find_if(from, lines.end(), is_free);
    const auto to = std::find_if_not(from, lines.end(), is_free);
    std::sort(from, to);
    from = to;
  }
}

// "= 512 512 2097152 2097152 label": the label of the last mark before `end`.
std::string last_mark(Lines::const_iterator begin, Lines::const_iterator end) {
  const auto mark = std::find_if(std::make_reverse_iterator(end), std::make_reverse_iterator(begin),
                                 [](const std::string& line) { return line[0] == '='; });
  if (mark == std::make_reverse_iterator(begin)) return "the start";
  std::size_t label = 0;
  for (int space = 0; space < 5; ++space) label = mark->find(' ', label) + 1;
  return fmt::format("\"{}\"", mark->substr(label));
}

std::optional<std::string> difference_on(int gpu, const Lines& recorded, const Lines& here) {
  const auto [theirs, ours] =
      std::mismatch(recorded.begin(), recorded.end(), here.begin(), here.end());
  if (theirs == recorded.end() && ours == here.end()) return std::nullopt;
  const auto text = [](const Lines& lines, Lines::const_iterator at) {
    return at == lines.end() ? std::string("nothing") : fmt::format("\"{}\"", *at);
  };
  return fmt::format("gpu {}, line {} (after {}): recorded {}, here {}", gpu,
                     theirs - recorded.begin() + 1, last_mark(recorded.begin(), theirs),
                     text(recorded, theirs), text(here, ours));
}

}  // namespace

std::vector<std::string> recorded_families(const RecordedVersion& version) {
  std::vector<std::string> families;
  for (const auto& entry : fs::directory_iterator(recording_path(folder_of(version)))) {
    families.push_back(entry.path().stem().string());
  }
  std::sort(families.begin(), families.end());
  return families;
}

std::vector<Recording> read_recordings(const RecordedVersion& version, const std::string& family,
                                       const RecordedGpu& gpu) {
  std::istringstream text(read_file(recording_path(folder_of(version) + "/" + family + ".txt")));
  std::vector<Recording> recordings;
  for (std::string line; std::getline(text, line);) {
    if (starts_with(line, "#") || line.empty()) continue;
    if (starts_with(line, "== ")) {
      std::string name = line.substr(3);
      const std::size_t end = name.find(kAnyOrder);
      const bool any_order = end != std::string::npos;
      recordings.push_back({any_order ? name.substr(0, end) : name, any_order, {}, {}});
    } else if (const std::optional<std::string_view> own = line_on(line, gpu)) {
      add_line(recordings.back(), *own);
    }
  }
  return recordings;
}

std::vector<TwinProgram> parse_twins(std::string_view text) {
  std::vector<TwinProgram> twins;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kHead = "--== ";
    if (starts_with(line, kHead)) {
      twins.push_back(parse_head(std::string_view(line).substr(kHead.size())));
    } else if (!twins.empty()) {
      twins.back().source += line + "\n";
    }
  }
  return twins;
}

namespace {

const std::map<std::string, TwinProgram>& all_programs() {
  static const std::map<std::string, TwinProgram> programs = [] {
    std::map<std::string, TwinProgram> all;
    for (const auto& entry : fs::directory_iterator(recording_path("pytorch/programs"))) {
      for (TwinProgram& twin : parse_twins(read_file(entry.path().string()))) {
        std::string name = twin.name;
        all.insert_or_assign(std::move(name), std::move(twin));
      }
    }
    return all;
  }();
  return programs;
}

}  // namespace

std::optional<TwinProgram> find_twin(const std::string& program) {
  const auto found = all_programs().find(program);
  if (found == all_programs().end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> twins_named(std::string_view start) {
  std::vector<std::string> names;
  for (const auto& [name, program] : all_programs()) {
    if (starts_with(name, start)) names.push_back(name);
  }
  return names;
}

std::optional<std::string> first_difference(const Recording& recording, const TwinRun& run) {
  if (!recording.error.empty()) return "the recording ends early: " + recording.error;
  for (std::size_t gpu = 0; gpu < recording.gpus.size(); ++gpu) {
    Lines recorded = recording.gpus[gpu];
    Lines here = gpu < run.gpus.size() ? run.gpus[gpu] : Lines();
    if (recording.frees_in_any_order) {
      sort_frees(recorded);
      sort_frees(here);
    }
    std::optional<std::string> difference = difference_on(static_cast<int>(gpu), recorded, here);
    if (!difference) continue;
    return run.error.empty() ? *difference : fmt::format("{}; {}", *difference, run.error);
  }
  return run.error.empty() ? std::nullopt : std::optional(run.error);
}

}  // namespace ohm::test
