#include "reports/console/oom_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "allocator_shim/base/bytes.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

PrintedBytes difference(const PrintedBytes& a, const PrintedBytes& b) {
  return {a.bytes - b.bytes, a.rounding + b.rounding};
}

// ---- reasoning ----------------------------------------------------------------------------------

/// What a process takes beside the allocator's segments: its context and what libraries hold.
constexpr double kLargestContext = 600.0 * 0x1p20;
/// What the allocator takes from the device for a tensor of 1 MiB or less.
constexpr double kSmallSegment = 2.0 * 0x1p20;

std::string text_of(const PrintedBytes& figure) {
  const double bytes = std::max(0.0, figure.bytes);
  if (bytes < 0x1p10) return fmt::format("{:.0f} bytes", bytes);
  if (bytes < 0x1p20) return fmt::format("{:.2f} KiB", bytes / 0x1p10);
  if (bytes < 0x1p30) return fmt::format("{:.2f} MiB", bytes / 0x1p20);
  return fmt::format("{:.2f} GiB", bytes / 0x1p30);
}

/// What others hold, at least: named ones, else what is in use and cannot be this process.
PrintedBytes held_by_others(const OomMessage& message) {
  PrintedBytes others;
  for (const PrintedBytes& process : message.other_processes) others = sum(others, process);
  if (!message.other_processes.empty() || !message.capacity || !message.free) return others;
  const PrintedBytes in_use = difference(*message.capacity, *message.free);
  if (message.this_process) return difference(in_use, *message.this_process);
  if (!message.reserved) return others;
  PrintedBytes rest = difference(in_use, *message.reserved);
  rest.bytes -= kLargestContext;
  return rest;
}

bool is_less(const PrintedBytes& a, const PrintedBytes& b) {
  return a.bytes + a.rounding < b.bytes - b.rounding;
}

/// What would have had to be free besides. The last few MiB of a card can be refused: all, then.
PrintedBytes missing_bytes(const OomMessage& message) {
  if (!message.free || !is_less(*message.free, message.requested)) return message.requested;
  return difference(message.requested, *message.free);
}

/// More is free than was asked for, or than there is, and it is not the card's last few MiB.
bool has_unused_room(const OomMessage& message) {
  constexpr double kLastShare = 0.05;
  if (!message.free || !message.capacity) return false;
  if (is_less(*message.capacity, *message.free)) return true;
  return is_less(message.requested, *message.free) &&
         message.free->bytes > kLastShare * message.capacity->bytes;
}

/// By the allocator, as far as the message says.
std::optional<PrintedBytes> held(const OomMessage& message) {
  return message.reserved ? message.reserved : message.allocated;
}

/// What this process holds is the larger part of the card, or too much for it with the request.
/// Assumed of a message that lacks the figures.
bool fills_the_card(const OomMessage& message) {
  const std::optional<PrintedBytes> own =
      message.this_process ? message.this_process : held(message);
  if (!own || !message.capacity) return true;
  const double with_context = own->bytes + message.requested.bytes + kLargestContext;
  return own->bytes >= message.capacity->bytes / 2 || with_context > message.capacity->bytes;
}

class Explanation {
 public:
  Explanation(const OomMessage& message, std::size_t columns)
      : message_(message), columns_(columns), cause_(cause_of(message)) {}

  std::string run() {
    paragraph(headline());
    text_ += "\nThe figures of the message, added up:\n";
    add_arithmetic();
    text_ += "\nWhat this means:\n";
    add_meaning();
    add_other_findings();
    const std::vector<std::string> pitfalls = pitfalls_of(cause_);
    if (!pitfalls.empty()) {
      text_ += fmt::format("\nTo see it happen and what helps: ohm explain {}\n",
                           fmt::join(pitfalls, ", "));
    }
    return std::move(text_);
  }

 private:
  void paragraph(const std::string& text) { text_ += indented(text, 0, columns_); }
  void point(const std::string& text) {
    std::string lines = indented(text, 4, columns_);
    lines.replace(0, 4, "  - ");
    text_ += lines;
  }
  void figure(const PrintedBytes& bytes, std::string_view what, std::string_view sign = " ") {
    text_ += fmt::format("  {} {:>12}  {}\n", sign, text_of(bytes), what);
  }

  std::string card() const {
    return message_.gpu ? fmt::format("GPU {}", *message_.gpu) : std::string("the card");
  }

  std::string headline() const {
    switch (cause_) {
      case OomCause::too_large:
        return fmt::format("The request is larger than {}.", card());
      case OomCause::fraction:
        return fmt::format("{} has room: the process has reached the fraction that it is allowed.",
                           card());
      case OomCause::fragmented:
        return fmt::format(
            "{} is fragmented: enough bytes are free in the allocator's cache, but not in one "
            "piece.",
            card());
      case OomCause::other_process:
        return fmt::format("Another process on {} holds the missing memory.", card());
      case OomCause::not_said:
        return fmt::format("The message does not say why {} refused the request.", card());
      case OomCause::cut_off:
        return fmt::format(
            "The message ends before the figures that say why {} refused the request.", card());
      case OomCause::full:
        break;
    }
    return fmt::format("{} is full: this process's own tensors fill it.", card());
  }

  void add_arithmetic() {
    if (message_.capacity) figure(*message_.capacity, "capacity of the card");
    if (message_.free) figure(*message_.free, "free", message_.capacity ? "−" : " ");
    if (message_.capacity && message_.free && !is_less(*message_.capacity, *message_.free)) {
      const PrintedBytes in_use = difference(*message_.capacity, *message_.free);
      figure(in_use, "in use", "=");
      if (message_.reserved) {
        figure(difference(in_use, *message_.reserved),
               "of it outside the allocator's segments: contexts, libraries, other processes");
      }
    }
    if (message_.this_process) figure(*message_.this_process, "of it in use by this process");
    for (const PrintedBytes& process : message_.other_processes) {
      figure(process, "of it in use by another process");
    }
    if (message_.reserved) figure(*message_.reserved, "reserved by PyTorch's allocator");
    if (message_.allocated) {
      figure(*message_.allocated, "handed out to tensors", message_.reserved ? "−" : " ");
    }
    if (const auto rest = unallocated(message_)) {
      figure(*rest, "reserved but not handed out: the cache", "=");
    }
    if (message_.private_pools) figure(*message_.private_pools, "in private pools (CUDA graphs)");
    if (message_.allowed) figure(*message_.allowed, "allowed for this process");
    figure(message_.requested, "requested");
  }

  void add_meaning() {
    switch (cause_) {
      case OomCause::too_large:
        return point(fmt::format(
            "A single request of {} does not fit into {}, even empty. One tensor is that large: "
            "look "
            "at its shape and dtype (a batch that was concatenated, logits of a large vocabulary, "
            "scores of a long sequence), and split it.",
            text_of(message_.requested), text_of(*message_.capacity)));
      case OomCause::fraction:
        return add_fraction();
      case OomCause::fragmented:
        return add_fragmentation();
      case OomCause::other_process:
        return add_other_process();
      case OomCause::not_said:
        return add_not_said();
      case OomCause::cut_off:
        return point(
            "The end of the message says what PyTorch's allocator has reserved: paste all of it.");
      case OomCause::full:
        break;
    }
    add_full();
  }

  void add_fraction() {
    if (message_.reserved) {
      point(fmt::format("{} reserved and {} requested are {}, more than the {} allowed.",
                        text_of(*message_.reserved), text_of(message_.requested),
                        text_of(sum(*message_.reserved, message_.requested)),
                        text_of(*message_.allowed)));
    }
    point(
        "torch.cuda.set_per_process_memory_fraction() set this. Raise the fraction, or make the "
        "program fit: for the allocator the card ends there.");
  }

  void add_fragmentation() {
    const PrintedBytes cache = *unallocated(message_);
    point(
        fmt::format("{} are reserved but free, and {} were requested. Fully free segments were "
                    "released before the error; the rest lies between blocks in use.",
                    text_of(cache), text_of(message_.requested)));
    if (message_.requested.bytes == kSmallSegment) {
      point(
          "2.00 MiB is a segment for tensors of 1 MiB or less: they have their own segments, and "
          "free memory in larger ones does not serve them.");
    }
    point(
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or max_split_size_mb below the size of "
        "the large blocks. Allocating the largest tensors first helps; emptying the cache cannot, "
        "while tensors are in those segments.");
  }

  void add_other_process() {
    const PrintedBytes others = held_by_others(message_);
    const PrintedBytes missing = missing_bytes(message_);
    const bool counts_free = missing.bytes < message_.requested.bytes;
    point(fmt::format(
        "{} requested{}: {} are missing. {} {}.", text_of(message_.requested),
        counts_free ? fmt::format(" less {} free", text_of(*message_.free)) : "", text_of(missing),
        text_of(others),
        message_.other_processes.empty()
            ? "are in use that this process does not account for (a context takes 300 to 600 MiB)"
            : "are in use by other processes"));
    point(
        "Find them with nvidia-smi: an open notebook, a hung worker. If the other one only caches, "
        "torch.cuda.empty_cache() there releases it; otherwise use another card "
        "(CUDA_VISIBLE_DEVICES), or less memory.");
  }

  void add_not_said() {
    if (!message_.free) {
      point(fmt::format("{} requested and {} reserved are less than {} has.",
                        text_of(message_.requested),
                        text_of(message_.reserved.value_or(PrintedBytes{})), card()));
    } else if (message_.capacity && is_less(*message_.capacity, *message_.free)) {
      point(fmt::format("{} free of {} contradict each other and are ignored.",
                        text_of(*message_.free), text_of(*message_.capacity)));
    } else {
      point(fmt::format("{} were refused; {} were free when the message was written.",
                        text_of(message_.requested), text_of(*message_.free)));
    }
    point("Neither the cache nor what tensors hold explains it. " +
          what_refuses_without_a_reason());
  }

  void add_full() {
    if (const auto cache = unallocated(message_)) {
      const double there_is = cache->bytes + message_.free.value_or(PrintedBytes{}).bytes;
      point(fmt::format("Of {} reserved {} are handed out{}.", text_of(*message_.reserved),
                        text_of(*message_.allocated),
                        there_is < message_.requested.bytes
                            ? "; the cache and the free memory together would not have been "
                              "enough. Emptying the cache cannot help"
                            : ""));
    }
    point(
        "Reduce what is alive at the peak: a smaller batch with gradient accumulation, mixed "
        "precision, checkpointing; and keep nothing longer than needed (losses that are "
        "summed as tensors, outputs in lists, inference with gradients).");
  }

  /// What is true besides.
  void add_other_findings() {
    const auto cache = unallocated(message_);
    const PrintedBytes others = held_by_others(message_);
    if (cause_ == OomCause::not_said || cause_ == OomCause::cut_off) return;
    if (cause_ != OomCause::fragmented && cache && message_.free &&
        sum(*cache, *message_.free).bytes >= message_.requested.bytes &&
        cause_ != OomCause::fraction) {
      point(
          fmt::format("The cache ({}) and the free memory ({}) together would have been enough: "
                      "part of the cause is fragmentation.",
                      text_of(*cache), text_of(*message_.free)));
    }
    if (cause_ != OomCause::other_process && others.bytes > others.rounding) {
      point(fmt::format("{} of the card are in use {} besides.", text_of(others),
                        message_.other_processes.empty()
                            ? "beyond these segments and a context of 600 MiB"
                            : "by other processes"));
    }
    if (message_.private_pools && message_.private_pools->bytes > 0) {
      point(fmt::format(
          "{} are in private pools: CUDA graphs keep what they captured until they are deleted.",
          text_of(*message_.private_pools)));
    }
  }

  const OomMessage& message_;
  std::size_t columns_;
  OomCause cause_;
  std::string text_;
};

}  // namespace

std::optional<PrintedBytes> unallocated(const OomMessage& message) {
  if (!message.reserved || !message.allocated) return std::nullopt;
  return difference(*message.reserved, *message.allocated);
}

OomCause cause_of(const OomMessage& message) {
  if (!message.is_cut && !message.allowed && has_unused_room(message)) return OomCause::not_said;
  if (message.capacity && is_less(*message.capacity, message.requested)) {
    return OomCause::too_large;
  }
  if (message.is_cut) return OomCause::cut_off;
  const bool has_room = message.free && !is_less(*message.free, message.requested);
  if (message.allowed && has_room && held(message)) {
    const bool is_allowed = is_less(sum(*held(message), message.requested), *message.allowed);
    return is_allowed ? OomCause::not_said : OomCause::fraction;
  }
  const auto cache = unallocated(message);
  const PrintedBytes missing = missing_bytes(message);
  const PrintedBytes others = held_by_others(message);
  // The cache could have given what is missing, had it been in one piece. A difference of two
  // rounded figures and what every allocator has left over are not evidence.
  constexpr double kCacheThatCounts = 0.05;
  const bool is_fragmented = cache && cache->bytes >= missing.bytes &&
                             cache->bytes >= kCacheThatCounts * message.reserved->bytes;
  // A desktop's few hundred MiB are not why a card of 8 GiB is full.
  constexpr double kShareThatCounts = 0.1;
  const double share = message.capacity ? kShareThatCounts * message.capacity->bytes : 0;
  const bool others_hold_it = others.bytes > others.rounding + share && !is_less(others, missing);
  // Where either would have been enough, the larger one is the one to look at.
  if (is_fragmented && (!others_hold_it || cache->bytes >= others.bytes)) {
    return OomCause::fragmented;
  }
  if (others_hold_it) return OomCause::other_process;
  return fills_the_card(message) ? OomCause::full : OomCause::not_said;
}

std::vector<std::string> pitfalls_of(OomCause cause) {
  switch (cause) {
    case OomCause::fragmented:
      return {"fragmentation"};
    case OomCause::other_process:
      return {"cached_memory_two_processes"};
    case OomCause::too_large:
      return {"chunked_loss", "sequence_length", "input_size"};
    case OomCause::not_said:
    case OomCause::cut_off:
      return {};
    case OomCause::fraction:
    case OomCause::full:
      break;
  }
  return {"batch_size", "leaked_loss_graph", "gradient_checkpointing", "mixed_precision"};
}

std::string what_refuses_without_a_reason() {
  return "Known causes: a process that held the memory for a moment, a driver that limits one "
         "allocation or needs as much host memory (Windows, WSL), a limit set outside PyTorch.";
}

std::string explained_oom_message(const OomMessage& message, std::size_t columns) {
  return Explanation(message, columns).run();
}

}  // namespace ohm::reports
