#include "harness/fit/compared_recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "reports/history/recorded_sites.h"
#include "reports/history/user_frames.h"
#include "reports/text/result_text.h"

namespace ohm::engine {

namespace {

/// A program that asks for this much that another one does not is not the same program.
constexpr double kMostLeftOver = 0.1;

std::vector<std::size_t> sizes_at_start(const RecordedGpu& gpu) {
  std::vector<std::size_t> sizes;
  for (const std::uint32_t life : gpu.history.lives().before) {
    sizes.push_back(gpu.history.lives().lives[life].requested_bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

bool is_too_much(const MatchedRequests::Part& part, const MatchedRequests::Part& of) {
  return static_cast<double>(part.requests) > kMostLeftOver * static_cast<double>(of.requests) ||
         static_cast<double>(part.bytes) > kMostLeftOver * static_cast<double>(of.bytes);
}

std::string place_of(const VariedRecording& recording, const RecordedGpu& gpu, std::uint32_t life) {
  const auto device = static_cast<std::size_t>(gpu.history.history().device);
  const BlockLife& block = gpu.history.lives().lives[life];
  reports::RecordedSites sites(recording.snapshot.tables, /*has_stacks=*/true,
                               reports::user_files_of(recording.snapshot));
  const HistorySite site =
      sites.at(sites.of(recording.snapshot.device_traces[device][block.allocated_at].stack));
  return fmt::format("{}{} ({})", site.op.empty() ? "" : site.op + ", ",
                     reports::place_text(site.file, site.line), human_bytes(block.requested_bytes));
}

/// "12 in a.pickle, 24 in b.pickle".
std::string counts_text(const std::vector<std::size_t>& counts,
                        const std::vector<VariedRecording>& recordings) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text += fmt::format("{}{} in {}", i == 0 ? "" : ", ", counts[i], recordings[i].file);
  }
  return text;
}

/// The allocator of another version than asked for may be the one that agrees.
std::vector<RuleSet> rule_sets_to_try(const std::string& name) {
  if (!name.empty()) return {rule_set_or_default(name)};
  std::vector<RuleSet> sets = {default_rule_set()};
  for (const RuleSet& rules : rule_sets()) {
    if (rules.name != sets.front().name) sets.push_back(rules);
  }
  return sets;
}

}  // namespace

ComparedRecordings::ComparedRecordings(const std::vector<std::string>& files,
                                       const std::vector<std::int64_t>& values,
                                       const std::string& rules) {
  std::optional<RecordingError> first_error;
  for (const RuleSet& set : rule_sets_to_try(rules)) {
    try {
      rules_ = set;
      read(files, values);
      first_error.reset();
      break;
    } catch (const RecordingError& error) {
      if (!first_error) first_error = error;
    }
  }
  if (first_error) throw RecordingError(first_error->what());
  refuse_other_gpus();
  for (std::size_t gpu = 0; gpu < recordings_.front().gpus.size(); ++gpu) {
    refuse_other_beginning(gpu);
    forget_steps_of_some(gpu);
    matched_.emplace_back(RecordingsOfGpu{recordings_, gpu});
    refuse_other_program(gpu);
  }
}

void ComparedRecordings::read(const std::vector<std::string>& files,
                              const std::vector<std::int64_t>& values) {
  recordings_.clear();
  for (std::size_t i = 0; i < files.size(); ++i) {
    recordings_.push_back(read_varied_recording(files[i], values[i], rules_, stacks_));
  }
  std::sort(recordings_.begin(), recordings_.end(),
            [](const auto& a, const auto& b) { return a.value < b.value; });
}

/// Where one recording has no marks, those of the others say nothing of it.
void ComparedRecordings::forget_steps_of_some(std::size_t gpu) {
  const bool have_all = std::all_of(
      recordings_.begin(), recordings_.end(),
      [gpu](const VariedRecording& recording) { return !recording.gpus[gpu].step_ends.empty(); });
  if (have_all) return;
  for (VariedRecording& recording : recordings_) recording.gpus[gpu].step_ends.clear();
}

bool ComparedRecordings::are_one_sequence() const {
  return std::all_of(matched_.begin(), matched_.end(), [](const MatchedRequests& matched) {
    return matched.has_one_order() && matched.unmatched().empty();
  });
}

void ComparedRecordings::refuse_other_gpus() const {
  const auto devices_of = [](const VariedRecording& recording) {
    std::string text;
    for (const RecordedGpu& gpu : recording.gpus) {
      text += fmt::format("{}cuda:{}", text.empty() ? "" : ", ", gpu.history.history().device);
    }
    return text;
  };
  const std::string first = devices_of(recordings_.front());
  for (const VariedRecording& recording : recordings_) {
    const std::string devices = devices_of(recording);
    if (devices != first) {
      throw RecordingError(fmt::format("not recordings of one program: {} is of {}, {} of {}",
                                       recordings_.front().file, first, recording.file, devices));
    }
    refuse_other_origin(recording);
  }
}

/// Libraries ask for other workspaces on another GPU, and in another version.
void ComparedRecordings::refuse_other_origin(const VariedRecording& recording) const {
  for (std::size_t gpu = 0; gpu < recording.gpus.size(); ++gpu) {
    const std::string& first = at(0, gpu).origin;
    const std::string& origin = recording.gpus[gpu].origin;
    if (origin == first || origin.empty() || first.empty()) continue;
    throw RecordingError(fmt::format("not recordings of the same: {} was made on {}, {} on {}",
                                     recordings_.front().file, first, recording.file, origin));
  }
}

/// Not recorded: which lines made what was there: it can only be taken for what it is if it is the
/// same.
void ComparedRecordings::refuse_other_beginning(std::size_t gpu) const {
  const std::vector<std::size_t> first = sizes_at_start(at(0, gpu));
  for (std::size_t i = 1; i < recordings_.size(); ++i) {
    const std::vector<std::size_t> sizes = sizes_at_start(at(i, gpu));
    if (sizes == first) continue;
    throw RecordingError(
        fmt::format("{} begins with {} blocks, {} with {} or others, made before the recording. "
                    "Record from the start of the program (ohm record)",
                    recordings_.front().file, first.size(), recordings_[i].file, sizes.size()));
  }
}

void ComparedRecordings::refuse_other_program(std::size_t gpu) const {
  const MatchedRequests& matched = matched_[gpu];
  for (std::size_t i = 0; i < recordings_.size(); ++i) {
    const MatchedRequests::Part& left = matched.left_over(i);
    const MatchedRequests::Part& all = matched.compared(i);
    if (!is_too_much(left, all)) continue;
    const UnmatchedRequests& first = matched.unmatched().front();
    throw RecordingError(fmt::format(
        "not recordings of one program: {} of the {} requests of {} have no counterpart, {} of {}. "
        "The first: {}{}: {}",
        left.requests, all.requests, recordings_[i].file, human_bytes(left.bytes),
        human_bytes(all.bytes), place_of(recordings_[first.in], at(first.in, gpu), first.life),
        matched.steps() > 0 ? fmt::format(" in step {}", first.step + 1) : "",
        counts_text(first.counts, recordings_)));
  }
}

}  // namespace ohm::engine
