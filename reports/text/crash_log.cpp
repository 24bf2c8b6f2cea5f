#include "reports/text/crash_log.h"

#include <algorithm>
#include <array>
#include <charconv>
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

LogPlace place_of(std::string file, const std::string& line, std::string function) {
  LogPlace place{std::move(file), 0, std::move(function)};
  std::from_chars(line.data(), line.data() + line.size(), place.line);
  return place;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// A number that ends its line may go on in the next one.
const std::regex& python_frame() {
  static const std::regex pattern(R"re(File "([^"]+)", line (\d+)(?:, in (\S+)|[, ]))re");
  return pattern;
}

/// The line, and what a terminal has broken off of a frame that begins in it.
std::string with_whole_frame(const std::vector<LogLine>& lines, std::size_t at) {
  constexpr std::size_t kMostLines = 4;
  std::string text = lines[at].text;
  if (!contains(text, "File \"")) return text;
  std::size_t next = at + 1;
  const auto is_of_frame = [&] {
    return next < std::min(lines.size(), at + kMostLines) && lines[next].origin == lines[at].origin;
  };
  std::smatch match;
  while (!std::regex_search(text, match, python_frame()) && is_of_frame()) {
    text += lines[next++].text;
  }
  // So may the name of a function, where what comes next is not set in.
  const bool may_go_on = !match.empty() && match[3].matched && match.suffix().length() == 0 &&
                         is_of_frame() && !lines[next].text.empty() &&
                         !lines[next].text.starts_with(' ');
  if (may_go_on) text.resize(static_cast<std::size_t>(match.position(3)));
  return text;
}

/// A frame that stands in one line.
std::optional<LogPlace> place_in(const std::string& line) {
  static const std::regex notebook(R"re(File ([^ ,"]+):(\d+), in ([\w<>.]+))re");
  static const std::regex cell(R"re((Cell In ?\[\d+\]|<ipython-input-[\w-]+>), line (\d+))re");
  for (const std::regex* pattern : {&python_frame(), &notebook, &cell}) {
    std::smatch match;
    if (!std::regex_search(line, match, *pattern)) continue;
    return place_of(match.str(1), match.str(2), match.size() > 3 ? match.str(3) : std::string());
  }
  return std::nullopt;
}

/// A frame as Rich draws it, "/path/train.py:61 in main", whose path may begin in the line before.
/// What a log begins with may have lost its own beginning.
std::optional<LogPlace> drawn_place(const std::vector<LogLine>& lines, std::size_t at) {
  static const std::regex pattern(R"re(^((?:[A-Za-z]:|~)?[/\\]\S*):(\d+) in ?([\w<>.]*)$)re");
  std::string text(trimmed(lines[at].text));
  const bool has_beginning = !text.empty() && (text[0] == '/' || text[0] == '~' || text[1] == ':');
  const std::size_t first = has_beginning || at == 0 ? at : at - 1;
  if (first < at) text.insert(0, trimmed(lines[first].text));
  std::smatch match;
  if (first == 0 || !std::regex_match(text, match, pattern)) return std::nullopt;
  return place_of(match.str(1), match.str(2), match.str(3));
}

/// A frame of notebooks of before 2022, "train.py in main(model)", whose number is that of the
/// arrow "---> 61" behind it. In Colab its path is a link.
std::optional<LogPlace> place_with_arrow(const std::string& line, const std::string& arrow,
                                         bool begins_log) {
  static const std::regex pattern(
      R"re(^\s*(?:\[([^\]\s]+)\]\(http[^)]*\)|(\S+)) in (<cell line: \d+>|[\w<>.]+)\(.*\)\s*$)re");
  std::smatch match;
  if (arrow.empty() || !std::regex_match(line, match, pattern)) return std::nullopt;
  const std::string file = match[1].matched ? match.str(1) : match.str(2);
  const bool is_cell = file.starts_with("<ipython-input");
  if (!file.ends_with(".py") && !is_cell) return std::nullopt;
  if (begins_log && !is_cell && !match[1].matched) return std::nullopt;
  return place_of(file, arrow, match.str(3));
}

/// The frames of a traceback, line by line from its end.
class FrameReader {
 public:
  std::optional<LogPlace> read(const std::vector<LogLine>& lines, std::size_t at) {
    const std::string& line = lines[at].text;
    static const std::regex arrow(R"re(^\s*-+> ?(\d+)\b)re");
    std::smatch match;
    if (std::regex_search(line, match, arrow)) {
      arrow_ = match.str(1);
      return std::nullopt;
    }
    if (std::optional<LogPlace> place = place_in(with_whole_frame(lines, at))) return place;
    if (std::optional<LogPlace> place = drawn_place(lines, at)) return place;
    std::optional<LogPlace> place = place_with_arrow(line, arrow_, at == 0);
    if (place) arrow_.clear();
    return place;
  }

 private:
  std::string arrow_;  ///< the number of the line that the nearest arrow points to
};

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

constexpr std::array<std::string_view, 24> kHints = {"emory",
                                                     "EMORY",
                                                     "ALLOC",
                                                     "OOM",
                                                     "pool",
                                                     "batch size",
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
                                                     "object store"};

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

/// "Killed", alone or as shells print it behind the script's line or the process.
bool is_word_of_shell(const std::string& line) {
  static const std::regex pattern(
      R"re(^\s*(?:\S+: line \d+:\s+\d+ |zsh: |\[\d+\]\s*\+?\s*\d*\s+)?[Kk]illed(?:\s{2,}\S.*)?\s*$)re");
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
