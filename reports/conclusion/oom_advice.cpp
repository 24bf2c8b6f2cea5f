#include "reports/conclusion/oom_advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

std::string figure_text(const PrintedBytes& figure) { return bytes_text(figure.bytes); }

std::string figure_text(const std::optional<PrintedBytes>& figure) {
  return figure_text(figure.value_or(PrintedBytes{}));
}

std::string fragmented_sentence(const OomMessage& message) {
  const CardUse use = use_of(message);
  const bool needs_both = is_less(*use.cache, message.requested);
  if (!needs_both) {
    return fmt::format("The cache is fragmented: {} of it are free, in pieces that are too small.",
                       figure_text(use.cache));
  }
  return fmt::format(
      "Free memory is in pieces: {} in the cache and {} on the card are enough together, neither "
      "of them alone.",
      figure_text(use.cache), figure_text(message.free));
}

std::string others_sentence(const OomMessage& message) {
  if (!message.other_processes.empty()) {
    return fmt::format("Other processes on the GPU hold {}.", figure_text(use_of(message).others));
  }
  return fmt::format(
      "{} more than this process's allocator and a context are in use on the GPU: other processes, "
      "or other libraries of this one.",
      figure_text(held_by_others(message)));
}

std::string full_sentence(const OomMessage& message) {
  const CardUse use = use_of(message);
  if (!use.tensors || !message.capacity) return "This process's own tensors fill the GPU.";
  return fmt::format("This process's own tensors fill the GPU: {} of {}.", figure_text(use.tensors),
                     figure_text(message.capacity));
}

std::string fewer_activations(const Circumstances& circumstances) {
  if (circumstances.uses_no_grad) {
    return "Use a smaller batch or a shorter sequence, a smaller dtype or quantized weights, and "
           "keep no results on the GPU.";
  }
  if (circumstances.runs_backward) {
    return "Use a smaller batch with gradient accumulation, mixed precision or checkpointing, and "
           "keep nothing longer than a step (losses summed as tensors, outputs in lists).";
  }
  return "Use a smaller batch, mixed precision, checkpointing in training; run inference under "
         "torch.no_grad() if it does not yet; keep nothing longer than a step (losses summed as "
         "tensors, outputs in lists).";
}

}  // namespace

bool has_memory_history(const OomMessage& message) {
  const bool is_torch_cuda =
      message.backend == OomBackend::cuda || message.backend == OomBackend::hip;
  return is_torch_cuda && message.wording == OomWording::by_process;
}

std::string fragmentation_setting(const OomMessage& message) {
  const std::string variable =
      message.variable.empty() ? "PYTORCH_CUDA_ALLOC_CONF" : message.variable;
  const bool is_newer_cuda =
      message.backend == OomBackend::cuda && message.wording == OomWording::by_process;
  if (message.recommends_expandable || is_newer_cuda) {
    return fmt::format("Set {}=expandable_segments:True.", variable);
  }
  if (message.wording == OomWording::with_hint || !message.variable.empty()) {
    return fmt::format("Set {}=max_split_size_mb:N, with N below the size of the large blocks.",
                       variable);
  }
  return "This PyTorch has no setting against it: allocate the largest tensors first, and keep "
         "sizes the same from step to step.";
}

std::string what_refuses_without_a_reason() {
  return "Known causes: a process that held the memory for a moment, a driver that limits one "
         "allocation or needs as much host memory (Windows, WSL), a limit set outside PyTorch.";
}

std::string cause_sentence(const OomMessage& message) {
  switch (cause_of(message)) {
    case OomCause::too_large:
      return "The request alone is larger than the GPU.";
    case OomCause::large_request:
      return fmt::format("This one request is the largest part: {} of {}, with {} held by tensors.",
                         figure_text(message.requested), figure_text(message.capacity),
                         figure_text(use_of(message).tensors));
    case OomCause::fraction:
      return fmt::format(
          "The GPU has room: set_per_process_memory_fraction limits the process to {}.",
          figure_text(message.allowed));
    case OomCause::fragmented:
      return fragmented_sentence(message);
    case OomCause::other_process:
      return others_sentence(message);
    case OomCause::outside:
      return fmt::format("{} of this process are outside PyTorch's allocator; {}.",
                         figure_text(use_of(message).outside), use_text(use_of(message)));
    case OomCause::private_pools:
      return fmt::format("Private pools of CUDA graphs hold {}, which nothing else can use; {}.",
                         figure_text(use_of(message).pools), use_text(use_of(message)));
    case OomCause::shared:
      return fmt::format("No single part fills the GPU: {}.", use_text(use_of(message)));
    case OomCause::not_said:
      return "The message does not say why the request failed. " + what_refuses_without_a_reason();
    case OomCause::cut_off:
      return "The message ends before the figures that say why.";
    case OomCause::full:
      break;
  }
  return full_sentence(message);
}

std::string advice(const OomMessage& message, const Circumstances& circumstances) {
  if (!circumstances.own_remedy.empty()) return circumstances.own_remedy;
  switch (cause_of(message)) {
    case OomCause::too_large:
    case OomCause::large_request:
      return "Make that one tensor smaller: a loss in chunks, a shorter sequence, a smaller input "
             "or batch.";
    case OomCause::fraction:
      return "Raise the fraction or make the job smaller.";
    case OomCause::fragmented:
      return fragmentation_setting(message);
    case OomCause::other_process:
      return "Find them (nvidia-smi) and end them, or use another GPU.";
    case OomCause::outside:
      return "Look for what allocates without PyTorch: NCCL buffers, CUDA contexts of workers, "
             "other frameworks and inference engines in the process.";
    case OomCause::private_pools:
      return "Let graphs share one pool (torch.cuda.graph(g, pool=...)), capture fewer shapes, or "
             "delete graphs that are no longer replayed.";
    case OomCause::not_said:
    case OomCause::cut_off:
      return "";
    case OomCause::full:
    case OomCause::shared:
      break;
  }
  return fewer_activations(circumstances);
}

}  // namespace ohm::reports
