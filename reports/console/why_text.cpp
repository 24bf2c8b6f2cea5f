#include "reports/console/why_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "reports/console/oom_explanation.h"
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
  if (message.allocated) out += fmt::format("Tensors hold {}", human(*message.allocated));
  if (message.reserved) {
    out += fmt::format("{} {} reserved", out.empty() ? "The allocator has" : " of",
                       human(*message.reserved));
  }
  return out.empty() ? "" : out + ". ";
}

std::string cause_text(const OomMessage& message) {
  switch (cause_of(message)) {
    case OomCause::too_large:
      return "The request alone is larger than the GPU: make that one tensor smaller (a loss in "
             "chunks, a shorter sequence, a smaller input).";
    case OomCause::fraction:
      return fmt::format(
          "The GPU has room: set_per_process_memory_fraction limits the process to {}. Raise "
          "the fraction or make the job smaller.",
          human(*message.allowed));
    case OomCause::fragmented:
      return fmt::format(
          "The cache is fragmented: {} of it are free, in pieces that are too small. Set "
          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
          human(*unallocated(message)));
    case OomCause::other_process:
      return "Other processes on the GPU hold the missing memory: find them with nvidia-smi and "
             "end them, or use another GPU.";
    case OomCause::not_said:
      return "The message does not say why the request failed. " + what_refuses_without_a_reason();
    case OomCause::cut_off:
      return "The message ends before the figures that say why.";
    case OomCause::full:
      break;
  }
  return "This process's own tensors fill the GPU: use a smaller batch, mixed precision, "
         "checkpointing in training, otherwise torch.no_grad(); and keep nothing longer than a "
         "step (losses summed "
         "as tensors, outputs in lists).";
}

std::string pytorch_text(const CrashLog& log, Length length) {
  const OomMessage& message = *log.message;
  const std::string free =
      message.free ? fmt::format(" with {} free", human(*message.free)) : std::string();
  return fmt::format("PyTorch ran out of memory on {}: {} requested{}{}. {}{}", gpu_text(log),
                     human(message.requested), free, where_text(log, length), figures_text(message),
                     cause_text(message));
}

std::string foreign_text(const CrashLog& log) {
  return fmt::format("{} ran out of memory{}: {}. {}", log.source, where_text(log, Length::full),
                     log.what, log.fix);
}

// ---- a result -----------------------------------------------------------------------------------

const HolderResult* largest_holder(const VariantResult& variant) {
  if (variant.oom) return variant.oom->holders.empty() ? nullptr : &variant.oom->holders.front();
  const HolderResult* largest = nullptr;
  for (const DeviceResult& device : variant.devices) {
    if (!device.peak || device.peak->holders.empty()) continue;
    const HolderResult& first = device.peak->holders.front();
    if (largest == nullptr || first.bytes > largest->bytes) largest = &first;
  }
  return largest;
}

std::string holder_text(const VariantResult& variant) {
  const HolderResult* const holder = largest_holder(variant);
  if (holder == nullptr) return "";
  if (holder->file.empty() && holder->category == Category::other) {
    return fmt::format("The largest part, {} in {} block{}, is older than the record. ",
                       short_bytes(holder->bytes), grouped(holder->count),
                       holder->count == 1 ? "" : "s");
  }
  return fmt::format("The largest part is {} of {}, {}: {} in {} block{}. ",
                     name_of(holder->category), holder->op.empty() ? "an unknown op" : holder->op,
                     full_place_text(holder->file, holder->line, holder->library, holder->module),
                     short_bytes(holder->bytes), grouped(holder->count),
                     holder->count == 1 ? "" : "s");
}

/// What helps against most of what is held.
std::string fix_text(const VariantResult& variant) {
  const HolderResult* const holder = largest_holder(variant);
  if (holder == nullptr) return "";
  switch (holder->category) {
    case Category::parameter:
      return "Parameters: load them in a smaller dtype, or shard or quantize them.";
    case Category::gradient:
      return "Gradients: shard them, free them in the optimizer's hooks, or train fewer layers.";
    case Category::optimizer_state:
      return "Optimizer state: use an 8-bit optimizer or one with less state, or shard it.";
    case Category::activation:
      return "Activations: use a smaller batch or mixed precision; in training also accumulation "
             "and checkpointing, otherwise torch.no_grad().";
    default:
      return "";
  }
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

std::string peak_text(const VariantResult& variant) {
  const auto most = std::max_element(variant.devices.begin(), variant.devices.end(),
                                     [](const DeviceResult& a, const DeviceResult& b) {
                                       return a.peak_allocated_bytes < b.peak_allocated_bytes;
                                     });
  return fmt::format("Nothing ran out of memory; the peak is {} on {}. ",
                     short_bytes(most->peak_allocated_bytes), most->device);
}

}  // namespace

std::string why_text(const CrashLog& log, std::size_t columns) {
  if (!log.message) return paragraph(foreign_text(log), columns, kMostWhyLines);
  constexpr std::size_t kLines = kMostWhyLines - kRecordingLines;
  std::string text = pytorch_text(log, Length::full);
  if (lines_of(text, columns) > kLines) text = pytorch_text(log, Length::shorter);
  return paragraph(std::move(text), columns, kLines) + kRecording;
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

std::string why_text(const RunResult& result, const std::string& replayed, std::size_t columns) {
  const VariantResult* const variant = why_variant(result);
  if (variant == nullptr) return "The result has no memory figures.\n";
  std::string text = variant->oom ? oom_text(*variant) : peak_text(*variant);
  text += unknown_text(*variant);
  text += holder_text(*variant);
  const FindingResult* const finding = memory_finding(*variant);
  text += finding == nullptr ? fix_text(*variant) : finding_text(*finding);
  if (!replayed.empty()) text += " " + replayed;
  while (text.ends_with(' ')) text.pop_back();
  return paragraph(text, columns, kMostWhyLines);
}

}  // namespace ohm::reports
