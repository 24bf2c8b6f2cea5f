#include "harness/replay/early_frees.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <stdexcept>

#include "allocator_shim/base/format_bytes.h"
#include "harness/replay/replay_error.h"
#include "reports/history/recorded_categories.h"
#include "reports/history/recorded_sites.h"
#include "reports/history/recorded_steps.h"
#include "reports/history/user_frames.h"

namespace ohm::engine {

namespace {

bool is_lasting(Category category) {
  return category == Category::parameter || category == Category::optimizer_state;
}

}  // namespace

std::string ProgramLine::text() const { return fmt::format("{}:{}", file, line); }

bool ProgramLine::is_at(std::string_view path, int line_there) const {
  if (line_there != line || !path.ends_with(file)) return false;
  return path.size() == file.size() || path[path.size() - file.size() - 1] == '/';
}

ProgramLine parse_program_line(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  ProgramLine place;
  if (colon != std::string::npos) {
    place.file = text.substr(0, colon);
    const char* const end = text.data() + text.size();
    const auto [rest, wrong] = std::from_chars(text.data() + colon + 1, end, place.line);
    if (wrong != std::errc() || rest != end) place.line = 0;
  }
  if (place.file.empty() || place.line < 1) {
    throw std::invalid_argument(
        fmt::format("--free-at \"{}\" is not FILE:LINE, as in train.py:12", text));
  }
  return place;
}

EarlyFrees::EarlyFrees(const Snapshot& snapshot, const std::string& file,
                       const std::vector<std::string>& lines)
    : snapshot_(snapshot), file_(file) {
  for (const std::string& line : lines) lines_.emplace_back().place = parse_program_line(line);
}

ChangedProgram EarlyFrees::on(const VerifiedHistory& history) {
  const auto device = static_cast<std::size_t>(history.history().device);
  const std::vector<TraceEntry>& trace = snapshot_.device_traces[device];
  const std::vector<std::uint32_t> ends = reports::step_ends(snapshot_, device);
  if (ends.empty()) {
    throw ReplayError(
        fmt::format("{}: --free-at: no steps of cuda:{} are known, at whose ends memory could be "
                    "freed; {}, or record it with ohm record",
                    file_, device, reports::kHowToMarkSteps));
  }
  reports::RecordedSites sites(snapshot_.tables, /*has_stacks=*/true,
                               reports::user_files_of(snapshot_));
  const std::vector<Category> categories = reports::recorded_categories(snapshot_, device, sites);
  ChangedProgram program;
  std::map<const Line*, std::uint32_t> first_ends;  // of steps on this device
  const std::vector<BlockLife>& lives = history.lives().lives;
  for (std::uint32_t index = 0; index < lives.size(); ++index) {
    const BlockLife& life = lives[index];
    if (life.began_before()) continue;
    const TraceEntry& entry = trace[life.allocated_at];
    const SiteId site = sites.of(entry.stack);
    const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& one) {
      return one.place.is_at(sites.at(site).file, sites.at(site).line);
    });
    if (line == lines_.end()) continue;
    ++line->requests;
    if (is_lasting(categories[life.allocated_at])) {
      ++line->lasting;
      continue;
    }
    const auto end = std::upper_bound(ends.begin(), ends.end(), life.allocated_at);
    if (end == ends.end() || life.freed_at < *end) continue;
    ++line->freed;
    const std::uint32_t first_end = first_ends.try_emplace(&*line, *end).first->second;
    if (*end != first_end) line->is_of_several_steps = true;
    program.early_frees.push_back({*end, index});
  }
  std::stable_sort(program.early_frees.begin(), program.early_frees.end(),
                   [](const auto& a, const auto& b) { return a.event < b.event; });
  return program;
}

void EarlyFrees::refuse_what_frees_nothing() const {
  for (const Line& line : lines_) {
    const std::string place = line.place.text();
    const auto refuse = [&](const std::string& why) {
      throw ReplayError(fmt::format("{}: --free-at {}: {}", file_, place, why));
    };
    if (line.requests == 0) {
      refuse(fmt::format("this line makes no request; {}", nearest_lines(line.place)));
    }
    if (line.freed == 0 && line.lasting > 0) {
      refuse(
          fmt::format("it makes parameters or optimizer state ({} of {} blocks), which "
                      "the next step needs",
                      line.lasting, line.requests));
    }
    if (line.freed == 0) {
      refuse(fmt::format("it changes nothing: each of its {} blocks is freed within its step",
                         line.requests));
    }
    if (!line.is_of_several_steps) {
      refuse(
          "its memory outlives a step only once, so it may be made once and kept: the record does "
          "not show that later steps do without it");
    }
  }
}

/// What the file's other lines make, the most first.
std::string EarlyFrees::nearest_lines(const ProgramLine& place) const {
  constexpr std::size_t kMost = 3;
  reports::RecordedSites sites(snapshot_.tables, /*has_stacks=*/true,
                               reports::user_files_of(snapshot_));
  std::map<int, std::uint64_t> bytes_of_lines;
  for (const std::vector<TraceEntry>& trace : snapshot_.device_traces) {
    for (const TraceEntry& entry : trace) {
      if (entry.action != EventAction::alloc) continue;
      const HistorySite& site = sites.at(sites.of(entry.stack));
      const ProgramLine there = {place.file, site.line};
      if (there.is_at(site.file, site.line)) bytes_of_lines[site.line] += entry.bytes;
    }
  }
  if (bytes_of_lines.empty()) return fmt::format("no line of {} makes any", place.file);
  std::vector<std::pair<int, std::uint64_t>> most(bytes_of_lines.begin(), bytes_of_lines.end());
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  most.resize(std::min(most.size(), kMost));
  std::string text;
  for (const auto& [line, bytes] : most) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", line, human_bytes(bytes));
  }
  return fmt::format("in {}, these lines make the most: {}", place.file, text);
}

}  // namespace ohm::engine
