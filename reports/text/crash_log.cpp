#include "reports/text/crash_log.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>
#include <utility>

#include "reports/text/foreign_messages.h"
#include "reports/text/library_file.h"
#include "reports/text/log_text.h"
#include "reports/text/measured_text.h"
#include "reports/text/memory_summary.h"
#include "reports/text/traceback_frames.h"

namespace ohm::reports {

namespace {

constexpr std::string_view kTried = "Tried to allocate";
/// Lines before a message that its traceback may have, and behind its beginning that it may have.
constexpr std::size_t kLinesBefore = 400;
constexpr std::size_t kLinesOfMessage = 12;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The lines from `first` on that the one of `first` wrote, as one.
std::string joined(const std::vector<LogLine>& lines, std::size_t first, std::string_view glue) {
  std::string out;
  const std::size_t end = std::min(lines.size(), first + kLinesOfMessage);
  for (std::size_t i = first; i < end; ++i) {
    if (lines[i].origin != lines[first].origin) continue;
    if (!out.empty()) out += glue;
    out += lines[i].text;
  }
  return out;
}

int fields_of(const OomMessage& message) {
  return static_cast<int>(message.capacity.has_value()) + message.free.has_value() +
         message.allocated.has_value() + message.reserved.has_value() +
         message.this_process.has_value() + static_cast<int>(message.other_processes.size());
}

/// The message that begins in this line. Terminals break lines between words or within them.
std::optional<OomMessage> message_at(const std::vector<LogLine>& lines, std::size_t first) {
  std::optional<OomMessage> best;
  for (const std::string_view glue : {" ", ""}) {
    try {
      OomMessage message = parse_oom_message(joined(lines, first, glue));
      if (!best || fields_of(message) > fields_of(*best)) best = std::move(message);
    } catch (const std::invalid_argument&) {
      continue;  // nothing that can be read this way
    }
  }
  return best;
}

// ---- the line of the program --------------------------------------------------------------------

/// What a line of a traceback, or of the source that it quotes, tells of the call.
void take_call(const std::string& text, CrashLog& log) {
  constexpr std::array<std::string_view, 4> kWithoutGradients = {
      "in decorate_context", "torch.no_grad()", "torch.inference_mode()", "in inference_mode"};
  constexpr std::array<std::string_view, 5> kOfTraining = {
      ".backward(", "in backward", "in training_step", "optimizer.step(", "in _run_backward"};
  const auto has = [&](std::string_view words) { return contains(text, words); };
  log.uses_no_grad =
      log.uses_no_grad || std::any_of(kWithoutGradients.begin(), kWithoutGradients.end(), has);
  log.runs_backward = log.runs_backward || std::any_of(kOfTraining.begin(), kOfTraining.end(), has);
}

/// Of the traceback that ends in this line: the innermost line of the user's own, and of all.
void take_places(const std::vector<LogLine>& lines, std::size_t message, CrashLog& log) {
  const std::size_t first = message < kLinesBefore ? 0 : message - kLinesBefore;
  FrameReader frames;
  for (std::size_t i = message + 1; i-- > first;) {
    const LogLine& line = lines[i];
    if (line.origin != lines[message].origin) continue;
    if (contains(line.text, "Traceback (most recent call last)")) return;
    take_call(line.text, log);
    std::optional<LogPlace> place = frames.read(lines, i);
    if (!place) continue;
    const bool is_library = is_library_file(place->file);
    if (log.place) continue;
    if (!is_library) {
      log.place = std::move(place);
    } else if (!log.library) {
      log.library = std::move(place);
    }
  }
}

// ---- whose message ------------------------------------------------------------------------------

/// PyTorch's, with figures of the GPU.
std::optional<CrashLog> pytorch_log(const std::vector<LogLine>& lines) {
  CrashLog log;
  std::set<int> gpus;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // The words may be parted by the end of a line.
    const bool begins = contains(lines[i].text, "out of memory") ||
                        contains(lines[i].text, kTried) ||
                        contains(lines[i].text, "would exceed allowed");
    if (!begins || contains(lines[i].text, "MPS backend")) continue;
    std::optional<OomMessage> message = message_at(lines, i);
    if (!message) continue;
    ++log.messages;
    if (message->gpu) gpus.insert(*message->gpu);
    // One that breaks off tells less than the next one.
    if (!log.message || (log.message->is_cut && !message->is_cut)) {
      log.message = std::move(message);
      log.place.reset();
      log.library.reset();
      log.uses_no_grad = log.runs_backward = false;
      take_places(lines, i, log);
    }
    // It goes on in the lines behind.
    if (!contains(lines[i].text, kTried)) ++i;
  }
  if (!log.message) return std::nullopt;
  log.source = "PyTorch";
  log.gpus.assign(gpus.begin(), gpus.end());
  return log;
}

/// PyTorch's, of which nothing is there behind the request.
std::optional<CrashLog> cut_pytorch_log(const std::vector<LogLine>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& text = lines[i].text;
    const bool begins = contains(text, "CUDA out of memory") ||
                        contains(text, "HIP out of memory") || contains(text, "XPU out of memory");
    if (!begins) continue;
    const std::optional<PrintedBytes> requested = requested_bytes(joined(lines, i, " "));
    if (!requested) continue;
    CrashLog log;
    log.source = "PyTorch";
    log.message.emplace();
    log.message->requested = *requested;
    log.message->is_cut = true;
    log.messages = 1;
    take_places(lines, i, log);
    return log;
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 38> kHints = {"emory",
                                                     "EMORY",
                                                     "ALLOC",
                                                     "OOM",
                                                     "pool",
                                                     "batch size",
                                                     "buffer size",
                                                     "max seq len",
                                                     "RESOURCE",
                                                     "xhausted",
                                                     "NVML",
                                                     "SIGKILL",
                                                     "exitcode",
                                                     "return code = -9",
                                                     "oom-kill",
                                                     "oom_reaper",
                                                     "GPU RAM",
                                                     "killed by signal",
                                                     "torch_",
                                                     "exit code",
                                                     "exited with code",
                                                     "Exit Code",
                                                     "bad_alloc",
                                                     "CUDA0 buffer",
                                                     "object store",
                                                     "out of resource",
                                                     "/dev/shm/",
                                                     "earlyoom",
                                                     "exit codes",
                                                     "signal 9",
                                                     "Killed signal",
                                                     "vector of size",
                                                     "exceeded limit",
                                                     "paging file",
                                                     "VRAM",
                                                     "DEVMEM",
                                                     "OUT_OF_ME",
                                                     "malloc"};

/// The others' messages are looked for in so much text, around lines that may be theirs.
constexpr std::size_t kMostText = std::size_t{1} << 20U;

bool may_be_a_message(std::string_view line) {
  return std::any_of(kHints.begin(), kHints.end(),
                     [&](std::string_view hint) { return contains(line, hint); });
}

/// The lines that may be messages of others, with what is around them, as one.
struct TextOfOthers {
  std::string text;
  std::vector<std::size_t> begins;  ///< of each line in `text`

  std::size_t line_at(std::size_t position) const {
    const auto behind = std::upper_bound(begins.begin(), begins.end(), position);
    return static_cast<std::size_t>(behind - begins.begin()) - 1;
  }
};

TextOfOthers text_of_others(const std::vector<LogLine>& lines) {
  TextOfOthers found;
  auto& [text, begins] = found;
  constexpr std::size_t kLinesAround = 3;
  std::size_t until = 0;  // lines before this one are near to one that may be a message
  for (std::size_t i = 0; i < lines.size(); ++i) {
    begins.push_back(text.size());
    if (may_be_a_message(lines[i].text)) until = i + kLinesAround;
    if (i >= until || text.size() >= kMostText) continue;
    text += lines[i].text;
    // What a log ends with in the middle of a line may go on.
    if (!text.ends_with(' ') && i + 1 < lines.size()) text += ' ';
  }
  return found;
}

/// The host's memory, which a thread or a call pins for copies.
bool is_of_pinned_memory(const TextOfOthers& text, const CrashLog& log) {
  constexpr std::array<std::string_view, 3> kWords = {"in pin memory thread", "cudaHostAlloc",
                                                      "cudaHostRegister"};
  const auto is_pinning = [](const std::optional<LogPlace>& place) {
    return place && (place->file.ends_with("pin_memory.py") || place->function == "pin_memory" ||
                     place->function == "_pin_memory_loop");
  };
  return is_pinning(log.library) || is_pinning(log.place) ||
         std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view words) { return contains(text.text, words); });
}

CrashLog log_of(ForeignMessage message) {
  CrashLog log;
  log.source = std::move(message.source);
  log.request = message.request;
  log.what = std::move(message.what);
  log.fix = std::move(message.fix);
  log.is_certain = message.is_certain;
  return log;
}

std::optional<CrashLog> foreign_log(const std::vector<LogLine>& lines) {
  const TextOfOthers text = text_of_others(lines);
  std::optional<ForeignMessage> message = find_foreign_message(text.text);
  if (!message) return std::nullopt;
  const std::size_t at = text.line_at(message->at);
  CrashLog log = log_of(std::move(*message));
  take_places(lines, at, log);
  if (log.source == "CUDA" && is_of_pinned_memory(text, log)) {
    log.source = "PyTorch on the host";
    log.what = "the host's own memory, not the GPU's: pinned memory was refused";
    log.fix =
        "Pin less: pin_memory=False, fewer workers, a smaller prefetch_factor; check the "
        "host's free memory and the container's limit.";
  }
  return log;
}

/// What the framework that runs on PyTorch has printed about the same error.
std::string remedy_of_framework(const std::vector<LogLine>& lines) {
  const std::optional<ForeignMessage> message = find_foreign_message(text_of_others(lines).text);
  return message && message->is_of_framework ? message->fix : "";
}

// ---- a table of figures, a word of the shell ----------------------------------------------------

std::optional<CrashLog> summary_log(const std::vector<LogLine>& lines) {
  const std::optional<MemorySummary> summary = find_memory_summary(lines);
  if (!summary) return std::nullopt;
  CrashLog log;
  log.source = "PyTorch";
  log.gpus = {summary->device};
  log.summary = *summary;
  return log;
}

/// "Killed", alone or as shells print it behind the script's line, the process or a progress bar.
bool is_word_of_shell(const std::string& line) {
  static const std::regex pattern(
      R"re(^\s*(?:\S+: line \d+:\s+\d+ |zsh: |\[\d+\]\s*\+?\s*\d*\s+|[^\]]*\|[^\]]*\[[^\]]*\])?[Kk]illed(?:\s{2,}\S.*)?\s*$)re");
  return line.size() < 400 && std::regex_match(line, pattern);
}

std::optional<CrashLog> killed_log(const std::vector<LogLine>& lines) {
  const auto has = [&](std::string_view words) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const LogLine& line) { return contains(line.text, words); });
  };
  const bool is_killed = std::any_of(
      lines.begin(), lines.end(), [](const LogLine& line) { return is_word_of_shell(line.text); });
  if (!is_killed || has("TIME LIMIT") || has("KeyboardInterrupt")) return std::nullopt;
  return log_of(message_of_killed_process());
}

bool is_of_time_limit(const std::vector<LogLine>& lines) {
  return std::any_of(lines.begin(), lines.end(),
                     [](const LogLine& line) { return contains(line.text, "DUE TO TIME LIMIT"); });
}

}  // namespace

std::optional<CrashLog> parse_crash_log(std::string_view text) {
  const std::vector<LogLine> lines = log_lines(text);
  std::optional<CrashLog> log = pytorch_log(lines);
  if (log) {
    log->own_remedy = remedy_of_framework(lines);
    return log;
  }
  log = foreign_log(lines);
  if (log && !log->is_certain && is_of_time_limit(lines)) log.reset();
  if (!log) log = cut_pytorch_log(lines);
  if (!log) log = summary_log(lines);
  return log ? log : killed_log(lines);
}

std::string known_sources() {
  std::string out = "PyTorch";
  for (const std::string& source : foreign_sources()) {
    if (source != "PyTorch") out += ", " + source;
  }
  return out;
}

}  // namespace ohm::reports
