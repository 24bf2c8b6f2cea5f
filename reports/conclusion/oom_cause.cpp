#include "reports/conclusion/oom_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

/// What a process takes beside the allocator's segments: its context and what libraries hold.
constexpr double kLargestContext = 600.0 * 0x1p20;
/// A smaller share of the card is not why it is full.
constexpr double kShareThatCounts = 0.1;
/// What outweighs tensors that hold more.
constexpr double kShareThatOutweighs = 0.25;

double bytes_of(const std::optional<PrintedBytes>& figure) { return figure ? figure->bytes : 0; }

double share_of_card(const OomMessage& message, double share) {
  return message.capacity ? share * message.capacity->bytes : 0;
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

std::optional<OomCause> cause_of_fraction(const OomMessage& message) {
  const bool has_room = message.free && !is_less(*message.free, message.requested);
  if (!message.allowed || !has_room || !held(message)) return std::nullopt;
  const bool is_allowed = is_less(sum(*held(message), message.requested), *message.allowed);
  return is_allowed ? OomCause::not_said : OomCause::fraction;
}

/// Holders that could each have given what is missing.
class Suspects {
 public:
  explicit Suspects(const OomMessage& message)
      : message_(message),
        use_(use_of(message)),
        missing_(missing_bytes(message)),
        others_(held_by_others(message)) {}

  OomCause cause() const {
    const bool others = others_hold_it();
    if (is_fragmented() && (!others || cache() >= others_.bytes) && cache() >= pools() &&
        cache() >= outside()) {
      return OomCause::fragmented;
    }
    if (others) return OomCause::other_process;
    const bool by_pools = outweighs(pools());
    const bool by_outside = outweighs(outside());
    if (by_pools && (!by_outside || pools() >= outside())) return OomCause::private_pools;
    if (by_outside) return OomCause::outside;
    return cause_of_tensors();
  }

 private:
  double cache() const { return bytes_of(use_.cache); }
  double pools() const { return bytes_of(use_.pools); }
  double tensors() const { return bytes_of(use_.tensors); }
  /// Beyond a context.
  double outside() const { return std::max(0.0, bytes_of(use_.outside) - kLargestContext); }

  /// The cache could have given what is missing, had it been in one piece. A difference of two
  /// rounded figures and what every allocator has left over are not evidence. Expandable segments
  /// give back free pages wherever they are.
  bool is_fragmented() const {
    constexpr double kCacheThatCounts = 0.05;
    return use_.cache && !message_.has_expandable_segments && cache() >= missing_.bytes &&
           cache() >= kCacheThatCounts * message_.reserved->bytes;
  }

  /// A desktop's few hundred MiB are not why a card of 8 GiB is full.
  bool others_hold_it() const {
    return others_.bytes > others_.rounding + share_of_card(message_, kShareThatCounts) &&
           !is_less(others_, missing_);
  }

  bool outweighs(double bytes) const {
    if (bytes < missing_.bytes || bytes < share_of_card(message_, kShareThatCounts)) return false;
    return bytes >= tensors() || bytes >= share_of_card(message_, kShareThatOutweighs);
  }

  OomCause cause_of_tensors() const {
    if (!fills_the_card(message_)) return OomCause::not_said;
    if (!message_.capacity || !use_.tensors) return OomCause::full;
    const double half = share_of_card(message_, 0.5);
    if (tensors() >= half) return OomCause::full;
    if (message_.requested.bytes >= half && message_.requested.bytes > tensors()) {
      return OomCause::large_request;
    }
    const bool is_largest = tensors() >= std::max({cache(), pools(), outside(), others_.bytes});
    return is_largest && tensors() >= missing_.bytes ? OomCause::full : OomCause::shared;
  }

  const OomMessage& message_;
  CardUse use_;
  PrintedBytes missing_;
  PrintedBytes others_;
};

}  // namespace

PrintedBytes difference(const PrintedBytes& a, const PrintedBytes& b) {
  return {a.bytes - b.bytes, a.rounding + b.rounding};
}

bool is_less(const PrintedBytes& a, const PrintedBytes& b) {
  return a.bytes + a.rounding < b.bytes - b.rounding;
}

std::optional<PrintedBytes> unallocated(const OomMessage& message) {
  if (!message.reserved || !message.allocated) return std::nullopt;
  return difference(*message.reserved, *message.allocated);
}

PrintedBytes missing_bytes(const OomMessage& message) {
  if (!message.free || !is_less(*message.free, message.requested)) return message.requested;
  return difference(message.requested, *message.free);
}

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

CardUse use_of(const OomMessage& message) {
  CardUse use;
  use.tensors = message.allocated;
  // PyTorch counts the free blocks of private pools as allocated, since nothing else can have them.
  if (message.allocated && message.private_pools &&
      message.private_pools->bytes <= message.allocated->bytes) {
    use.pools = message.private_pools;
    use.tensors = difference(*message.allocated, *message.private_pools);
  }
  use.cache = unallocated(message);
  if (message.this_process && message.reserved &&
      !is_less(*message.this_process, *message.reserved)) {
    use.outside = difference(*message.this_process, *message.reserved);
  }
  for (const PrintedBytes& process : message.other_processes) {
    use.others = sum(use.others.value_or(PrintedBytes{}), process);
  }
  const bool is_known = message.capacity && message.free && message.reserved &&
                        !is_less(*message.capacity, *message.free);
  if (is_known && !use.outside && !use.others) {
    use.unnamed = difference(difference(*message.capacity, *message.free), *message.reserved);
  }
  return use;
}

std::string use_text(const CardUse& use) {
  using Row = std::pair<double, const char*>;
  std::array<Row, 6> rows = {{{bytes_of(use.tensors), "tensors"},
                              {bytes_of(use.pools), "private pools of CUDA graphs"},
                              {bytes_of(use.cache), "the allocator's cache"},
                              {bytes_of(use.outside), "this process outside the allocator"},
                              {bytes_of(use.others), "other processes"},
                              {bytes_of(use.unnamed), "contexts, libraries, other processes"}}};
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.first > b.first; });
  constexpr double kLeastShare = 0.01;
  std::string text;
  for (const auto& [bytes, name] : rows) {
    if (bytes <= kLeastShare * rows.front().first) break;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, bytes_text(bytes));
  }
  return text;
}

OomCause cause_of(const OomMessage& message) {
  if (!message.is_cut && !message.allowed && has_unused_room(message)) return OomCause::not_said;
  if (message.capacity && is_less(*message.capacity, message.requested)) {
    return OomCause::too_large;
  }
  if (message.is_cut) return OomCause::cut_off;
  if (const std::optional<OomCause> fraction = cause_of_fraction(message)) return *fraction;
  return Suspects(message).cause();
}

std::vector<std::string> pitfalls_of(OomCause cause) {
  switch (cause) {
    case OomCause::fragmented:
      return {"fragmentation"};
    case OomCause::other_process:
      return {"cached_memory_two_processes"};
    case OomCause::too_large:
    case OomCause::large_request:
      return {"chunked_loss", "sequence_length", "input_size"};
    case OomCause::outside:
    case OomCause::private_pools:
      return {"vram_breakdown"};
    case OomCause::not_said:
    case OomCause::cut_off:
      return {};
    case OomCause::fraction:
    case OomCause::full:
    case OomCause::shared:
      break;
  }
  return {"batch_size", "leaked_loss_graph", "gradient_checkpointing", "mixed_precision"};
}

}  // namespace ohm::reports
