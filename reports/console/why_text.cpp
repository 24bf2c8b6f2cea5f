#include "reports/console/why_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "reports/conclusion/oom_advice.h"
#include "reports/text/conclusion_text.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"
#include "reports/text/unknown_values_text.h"

namespace ohm::reports {

namespace {

std::string human(const PrintedBytes& figure) { return bytes_text(figure.bytes); }

std::size_t lines_of(const std::string& text, std::size_t columns) {
  return wrapped(printable(text), columns).size();
}

/// The sentences that these lines have room for; of one that is longer than that its beginning.
std::string paragraph(std::string text, std::size_t columns, std::size_t most_lines) {
  while (lines_of(text, columns) > most_lines) {
    const std::size_t end = text.rfind(". ", text.size() - 2);
    if (end == std::string::npos) break;
    text.resize(end + 1);
  }
  const std::vector<std::string> lines = wrapped(printable(text), columns);
  std::string out;
  for (std::size_t i = 0; i < lines.size() && i < most_lines; ++i) out += lines[i] + "\n";
  return out;
}

// ---- a log --------------------------------------------------------------------------------------

constexpr const char* kRecording =
    "To learn what held it: ohm record -- COMMAND, or this at the top of the job; then ohm why "
    "PICKLE:\n"
    "  import torch\n"
    "  torch.cuda.memory._record_memory_history(max_entries=200000)\n"
    "  torch._C._cuda_attach_out_of_memory_observer(\n"
    "      lambda *_: torch.cuda.memory._dump_snapshot(\"oom.pickle\"))\n";
constexpr std::size_t kRecordingLines = 5;

/// How much is said where lines are few.
enum class Length { full, shorter };

std::string where_text(const CrashLog& log, Length length) {
  const auto text_of = [](const LogPlace& place) {
    return place_text(place.file, place.line) +
           (place.function.empty() ? "" : " in " + place.function);
  };
  if (!log.place && !log.library) return "";
  if (!log.place) return " at " + text_of(*log.library);
  return " at " + text_of(*log.place) +
         (log.library && length == Length::full ? fmt::format(", through {}", text_of(*log.library))
                                                : "");
}

std::string gpu_text(const CrashLog& log) {
  const OomMessage& message = *log.message;
  std::string gpu = message.gpu ? fmt::format("GPU {}", *message.gpu) : std::string("the GPU");
  if (message.capacity) gpu += fmt::format(" of {}", human(*message.capacity));
  if (log.gpus.size() > 1) {
    gpu += fmt::format(" (the log has {} messages, of {} GPUs)", log.messages, log.gpus.size());
  }
  return gpu;
}

/// What was where, as far as the message says it.
std::string figures_text(const OomMessage& message) {
  std::string out;
  const std::optional<PrintedBytes> tensors = use_of(message).tensors;
  if (tensors) out += fmt::format("Tensors hold {}", human(*tensors));
  if (message.reserved) {
    out += fmt::format("{} {} reserved", out.empty() ? "The allocator has" : " of",
                       human(*message.reserved));
  }
  return out.empty() ? "" : out + ". ";
}

std::string pytorch_text(const CrashLog& log, Length length) {
  const OomMessage& message = *log.message;
  const std::string free =
      message.free ? fmt::format(" with {} free", human(*message.free)) : std::string();
  const std::string remedy = advice(message, circumstances_of(log));
  return fmt::format("PyTorch ran out of memory on {}: {} requested{}{}. {}{}{}", gpu_text(log),
                     human(message.requested), free, where_text(log, length), figures_text(message),
                     cause_sentence(message), remedy.empty() ? "" : " Suggestion: " + remedy);
}

std::string summary_text(const MemorySummary& summary) {
  std::string text = fmt::format(
      "memory_summary() of GPU {}: tensors hold {} now and {} at the peak", summary.device,
      bytes_text(summary.allocated->current), bytes_text(summary.allocated->peak));
  if (summary.reserved) {
    text += fmt::format(", of {} reserved", bytes_text(summary.reserved->current));
  }
  if (summary.non_releasable) {
    text += fmt::format("; {} are free parts of segments in use",
                        bytes_text(summary.non_releasable->current));
  }
  return text + fmt::format(
                    ". {} out-of-memory error{}, {} retried cudaMalloc. The table does not say "
                    "what held it.",
                    summary.ooms, summary.ooms == 1 ? "" : "s", summary.retries);
}

std::string foreign_text(const CrashLog& log) {
  if (log.summary) return summary_text(*log.summary);
  if (!log.is_certain) {
    std::string text = fmt::format("{}. Suggestion: {}", log.what, log.fix);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
  }
  return fmt::format("{} ran out of memory{}: {}. {}", log.source, where_text(log, Length::full),
                     log.what, log.fix);
}

// ---- a result -----------------------------------------------------------------------------------

struct Largest {
  const HolderResult* holder = nullptr;
  std::int64_t category_bytes = 0;
  std::int64_t all_bytes = 0;
};

/// The category that holds most, and its largest line.
Largest largest_in(const CategoryBytes& bytes, const std::vector<HolderResult>& holders) {
  const auto most = std::max_element(bytes.begin(), bytes.end());
  const auto category = static_cast<Category>(most - bytes.begin());
  Largest largest{nullptr, *most, std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0})};
  const auto found = std::find_if(holders.begin(), holders.end(), [&](const HolderResult& one) {
    return one.category == category;
  });
  if (found != holders.end()) {
    largest.holder = &*found;
  } else if (!holders.empty()) {
    largest = {&holders.front(), 0, 0};
  }
  return largest;
}

Largest largest_part(const VariantResult& variant) {
  if (variant.oom) return largest_in(variant.oom->alive_by_category, variant.oom->holders);
  const DeviceResult* fullest = nullptr;
  for (const DeviceResult& device : variant.devices) {
    if (!device.peak || device.peak->holders.empty()) continue;
    const bool is_fuller =
        fullest == nullptr || device.peak_allocated_bytes > fullest->peak_allocated_bytes;
    if (is_fuller) fullest = &device;
  }
  return fullest == nullptr ? Largest()
                            : largest_in(fullest->peak_by_category, fullest->peak->holders);
}

std::string holder_text(const VariantResult& variant) {
  const Largest largest = largest_part(variant);
  const HolderResult* const holder = largest.holder;
  if (holder == nullptr) return "";
  if (holder->file.empty() && holder->category == Category::other) {
    return fmt::format("The largest part, {} in {} block{}, {}. ", short_bytes(holder->bytes),
                       grouped(holder->count), holder->count == 1 ? "" : "s",
                       variant.has_events ? "is older than the record" : "has no line");
  }
  const bool says_share = largest.category_bytes > holder->bytes;
  return fmt::format(
      "The largest part is {}{}{} of {}, {}: {} in {} block{}. ", name_of(holder->category),
      says_share ? fmt::format(", {} of {}", short_bytes(largest.category_bytes),
                               short_bytes(largest.all_bytes))
                 : "",
      says_share ? "; most of it is" : "", holder->op.empty() ? "an unknown op" : holder->op,
      full_place_text(holder->file, holder->line, holder->library, holder->module),
      short_bytes(holder->bytes), grouped(holder->count), holder->count == 1 ? "" : "s");
}

std::string finding_text(const FindingResult& finding) {
  std::string out = fmt::format("{}: {}. ", finding.pitfall, finding.what);
  if (!finding.evidence.empty()) {
    const FindingEvidence& most = finding.evidence.front();
    out += fmt::format("The most by {}, {}: {}. ", most.op.empty() ? "an unknown op" : most.op,
                       full_place_text(most.file, most.line, most.library, most.module),
                       short_bytes(most.bytes));
  }
  return out + fmt::format("What helps: ohm explain {}.", finding.scenario);
}

/// Of memory; nullptr: there is none.
const FindingResult* memory_finding(const VariantResult& variant) {
  for (const FindingResult& finding : variant.findings) {
    if (finding.pitfall != kUnknownValuesPitfall) return &finding;
  }
  return nullptr;
}

std::string unknown_text(const VariantResult& variant) {
  const std::vector<std::string> lines = unknown_value_lines(variant);
  if (lines.empty()) return "";
  return fmt::format("The figures may be those of another path: {}. ", lines.front());
}

std::string oom_text(const VariantResult& variant) {
  const OomResult& oom = *variant.oom;
  const std::int64_t alive =
      std::accumulate(oom.alive_by_category.begin(), oom.alive_by_category.end(), std::int64_t{0});
  const std::string text = oom_sentence(oom);
  return fmt::format("Out{}, with {} alive. ", text.substr(3), short_bytes(alive));
}

/// The path to what the variable that holds most keeps alive, where that is a good part.
std::string kept_text(const VariantResult& variant) {
  if (!variant.retention || variant.retention->entries.empty()) return "";
  const RetainedResult& most = variant.retention->entries.front();
  const Largest largest = largest_part(variant);
  if (most.kind == "module" || most.kind == "optimizer" || 4 * most.bytes < largest.all_bytes) {
    return "";
  }
  const bool has_own_moment =
      variant.retention->is_at_end || is_in_growth(variant) || variant.retention->step_calls > 0;
  std::string path;
  for (const std::string& step : most.path) path += (path.empty() ? "" : " -> ") + step;
  return fmt::format("`{}` keeps {} alive{}: {}. ", most.variable, short_bytes(most.bytes),
                     has_own_moment ? fmt::format(" {}", moment_text(variant)) : "", path);
}

std::string peak_text(const VariantResult& variant) {
  const auto most = std::max_element(variant.devices.begin(), variant.devices.end(),
                                     [](const DeviceResult& a, const DeviceResult& b) {
                                       return a.peak_allocated_bytes < b.peak_allocated_bytes;
                                     });
  if (!variant.has_events) {
    return fmt::format(
        "The record has no events, and does not tell whether memory ran out: {} were allocated on "
        "{} when it was taken. ",
        short_bytes(most->peak_allocated_bytes), most->device);
  }
  return fmt::format("Nothing ran out of memory; the peak is {} on {}. ",
                     short_bytes(most->peak_allocated_bytes), most->device);
}

}  // namespace

Circumstances circumstances_of(const CrashLog& log) {
  return {log.uses_no_grad, log.runs_backward, log.own_remedy};
}

std::string why_text(const CrashLog& log, std::size_t columns) {
  if (!log.message) return paragraph(foreign_text(log), columns, kMostWhyLines);
  constexpr std::size_t kLines = kMostWhyLines - kRecordingLines;
  std::string text = pytorch_text(log, Length::full);
  if (lines_of(text, columns) > kLines) text = pytorch_text(log, Length::shorter);
  const std::string recording = has_memory_history(*log.message) ? kRecording : "";
  return paragraph(std::move(text), columns, kLines) + recording;
}

const VariantResult* why_variant(const RunResult& result) {
  const VariantResult* with_finding = nullptr;
  const VariantResult* with_figures = nullptr;
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) {
      if (variant.devices.empty()) continue;
      if (variant.oom) return &variant;
      if (with_finding == nullptr && !variant.findings.empty()) with_finding = &variant;
      if (with_figures == nullptr) with_figures = &variant;
    }
  }
  return with_finding != nullptr ? with_finding : with_figures;
}

VariantResult* why_variant(RunResult& result) {
  return const_cast<VariantResult*>(why_variant(std::as_const(result)));
}

std::string why_text(const RunResult& result, const std::string& replayed, std::size_t columns) {
  const VariantResult* const variant = why_variant(result);
  if (variant == nullptr) return "The result has no memory figures.\n";
  std::string head;
  if (variant->conclusion) {
    for (const std::string& line : conclusion_lines(*variant->conclusion)) {
      head += paragraph(line, columns, 2);
    }
  }
  std::string text = variant->oom ? oom_text(*variant) : peak_text(*variant);
  if (!replayed.empty()) text += replayed + " ";
  text += unknown_text(*variant);
  text += kept_text(*variant);
  text += holder_text(*variant);
  const FindingResult* const finding = memory_finding(*variant);
  if (finding != nullptr) text += finding_text(*finding);
  while (text.ends_with(' ')) text.pop_back();
  const auto used = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n'));
  return head + paragraph(text, columns, kMostWhyLines - std::min(used, kMostWhyLines - 1));
}

}  // namespace ohm::reports
