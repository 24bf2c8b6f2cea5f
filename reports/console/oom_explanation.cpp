#include "reports/console/oom_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "allocator_shim/base/bytes.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

/// What the allocator takes from the device for a tensor of 1 MiB or less.
constexpr double kSmallSegment = 2.0 * 0x1p20;

std::string text_of(const PrintedBytes& figure) {
  const double bytes = std::max(0.0, figure.bytes);
  if (bytes < 0x1p10) return fmt::format("{:.0f} bytes", bytes);
  if (bytes < 0x1p20) return fmt::format("{:.2f} KiB", bytes / 0x1p10);
  if (bytes < 0x1p30) return fmt::format("{:.2f} MiB", bytes / 0x1p20);
  return fmt::format("{:.2f} GiB", bytes / 0x1p30);
}

class Explanation {
 public:
  Explanation(const OomMessage& message, const Circumstances& circumstances, std::size_t columns)
      : message_(message),
        circumstances_(circumstances),
        columns_(columns),
        cause_(cause_of(message)),
        use_(use_of(message)) {}

  std::string run() {
    paragraph(headline());
    text_ += "\nThe figures of the message, added up:\n";
    add_arithmetic();
    text_ += "\nWhat this means:\n";
    add_meaning();
    add_other_findings();
    const std::vector<std::string> pitfalls = pitfalls_of(cause_);
    // A framework has settings of its own.
    if (!pitfalls.empty() && circumstances_.own_remedy.empty()) {
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
        return fmt::format("{} is fragmented. {}", card(), cause_sentence(message_));
      case OomCause::not_said:
        return fmt::format("The message does not say why {} refused the request.", card());
      case OomCause::cut_off:
        return fmt::format(
            "The message ends before the figures that say why {} refused the request.", card());
      default:
        return fmt::format("{}: {}", card(), cause_sentence(message_));
    }
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
      const bool has_pools = use_.pools && use_.pools->bytes > 0;
      figure(*message_.allocated,
             has_pools ? "handed out: to tensors and in private pools" : "handed out to tensors",
             message_.reserved ? "−" : " ");
    }
    if (const auto rest = unallocated(message_)) {
      figure(*rest, "reserved but not handed out: the cache", "=");
    }
    if (message_.private_pools)
      figure(*message_.private_pools,
             "of what is handed out: free in private pools of CUDA graphs");
    if (message_.allowed) figure(*message_.allowed, "allowed for this process");
    figure(message_.requested, "requested");
  }

  void add_meaning() {
    add_details();
    const std::string remedy = advice(message_, circumstances_);
    if (!remedy.empty()) point("Suggestion: " + remedy);
  }

  void add_details() {
    switch (cause_) {
      case OomCause::too_large:
        return point(fmt::format(
            "A single request of {} does not fit into {}, even empty. One tensor is that large: "
            "look at its shape and dtype (a batch that was concatenated, logits of a large "
            "vocabulary, scores of a long sequence).",
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
        return add_full();
      case OomCause::large_request:
      case OomCause::outside:
      case OomCause::private_pools:
      case OomCause::shared:
        break;
    }
    point(fmt::format("Who holds the card: {}.", use_text(use_)));
  }

  void add_fraction() {
    if (message_.reserved) {
      point(fmt::format("{} reserved and {} requested are {}, more than the {} allowed.",
                        text_of(*message_.reserved), text_of(message_.requested),
                        text_of(sum(*message_.reserved, message_.requested)),
                        text_of(*message_.allowed)));
    }
    point(
        "torch.cuda.set_per_process_memory_fraction() set this: for the allocator the card ends "
        "there.");
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
        "Allocating the largest tensors first helps; emptying the cache cannot, while tensors are "
        "in those segments.");
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
        "Usual ones are an open notebook and a hung worker. One that only caches releases it with "
        "torch.cuda.empty_cache().");
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
  }

  /// What is true besides.
  void add_other_findings() {
    const auto cache = unallocated(message_);
    const PrintedBytes others = held_by_others(message_);
    if (cause_ == OomCause::not_said || cause_ == OomCause::cut_off) return;
    if (cause_ != OomCause::fragmented && cause_ != OomCause::fraction && cache && message_.free &&
        !message_.has_expandable_segments &&
        sum(*cache, *message_.free).bytes >= message_.requested.bytes) {
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
    constexpr double kContextThatIsUsual = 2.0 * 0x1p30;
    if (cause_ != OomCause::outside && use_.outside && use_.outside->bytes > kContextThatIsUsual) {
      point(fmt::format("{} of this process are outside PyTorch's allocator.",
                        text_of(*use_.outside)));
    }
  }

  const OomMessage& message_;
  const Circumstances& circumstances_;
  std::size_t columns_;
  OomCause cause_;
  CardUse use_;
  std::string text_;
};

}  // namespace

std::string explained_oom_message(const OomMessage& message, const Circumstances& circumstances,
                                  std::size_t columns) {
  return Explanation(message, circumstances, columns).run();
}

}  // namespace ohm::reports
