#include "allocator_shim/replay/state_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "allocator_shim/replay/initial_state.h"

namespace ohm {
namespace {

std::string text_of(const SegmentView& segment, const std::vector<Lane>& lanes) {
  return fmt::format("a {} {} of {} bytes for {}", segment.is_small ? "small" : "large",
                     segment.is_expandable ? "expandable range" : "segment", segment.bytes,
                     name_of(lanes[segment.stream]));
}

bool is_same_segment(const SegmentView& a, const SegmentView& b) {
  return a.bytes == b.bytes && a.stream == b.stream && a.is_small == b.is_small &&
         a.is_expandable == b.is_expandable;
}

std::string text_of(const BlockView& block) {
  return fmt::format("{} bytes {} for a request of {}", block.bytes, name_of(block.state),
                     block.requested_bytes);
}

/// Whether what an inactive block last held is known. Addresses without memory keep it too, and are
/// in no record: 0 in an expandable segment may have been anything.
bool is_known(const BlockView& actual, const SegmentView& segment) {
  if (actual.state != BlockView::State::inactive) return true;
  if (segment.is_expandable && actual.requested_bytes == 0) return false;
  return actual.requested_bytes < kUnknownRequest;
}

bool is_same_block(const BlockView& actual, const BlockView& recorded, const SegmentView& segment) {
  if (actual.bytes != recorded.bytes || actual.state != recorded.state) return false;
  return actual.requested_bytes == recorded.requested_bytes || !is_known(actual, segment);
}

using Difference = std::optional<StateDifference>;

/// The first difference of two lists in address order; `differ` says what differs in two entries of
/// one address, `only_in` what to say of an entry that has no counterpart.
template <typename View, typename Differ, typename OnlyIn>
Difference compare_lists(const std::vector<View>& actual, const std::vector<View>& recorded,
                         Differ differ, OnlyIn only_in) {
  auto a = actual.begin();
  auto r = recorded.begin();
  while (a != actual.end() || r != recorded.end()) {
    if (r == recorded.end() || (a != actual.end() && a->address < r->address)) {
      return StateDifference{a->address, only_in(*a, std::string_view("in the replay"))};
    }
    if (a == actual.end() || r->address < a->address) {
      return StateDifference{r->address, only_in(*r, std::string_view("in the record"))};
    }
    if (Difference difference = differ(*a++, *r++)) return difference;
  }
  return std::nullopt;
}

Difference difference_of(const BlockView& actual, const BlockView& recorded,
                         const SegmentView& segment) {
  if (is_same_block(actual, recorded, segment)) return std::nullopt;
  return StateDifference{actual.address,
                         fmt::format("the block {:#x} has {}, recorded {}", actual.address,
                                     text_of(actual), text_of(recorded))};
}

}  // namespace

std::string name_of(const Lane& lane) {
  const auto stream = static_cast<std::uint64_t>(lane.stream);
  std::string name = stream == 0 ? "stream 0" : fmt::format("stream {:#x}", stream);
  if (lane.is_private()) {
    name += fmt::format(" of the private pool ({}, {})", lane.pool[0], lane.pool[1]);
  }
  return name;
}

std::optional<StateDifference> first_difference(const std::vector<SegmentView>& actual,
                                                const std::vector<SegmentView>& recorded,
                                                const std::vector<Lane>& lanes) {
  const auto segments_differ = [&](const SegmentView& a, const SegmentView& r) -> Difference {
    if (!is_same_segment(a, r)) {
      return StateDifference{a.address,
                             fmt::format("at {:#x} there is {}, recorded is {}", a.address,
                                         text_of(a, lanes), text_of(r, lanes))};
    }
    const auto blocks_differ = [&](const BlockView& block, const BlockView& other) {
      return difference_of(block, other, a);
    };
    return compare_lists(a.blocks, r.blocks, blocks_differ,
                         [](const BlockView& block, std::string_view where) {
                           return fmt::format("the block {:#x}, {}, is {} only", block.address,
                                              text_of(block), where);
                         });
  };
  return compare_lists(actual, recorded, segments_differ,
                       [&](const SegmentView& segment, std::string_view where) {
                         return fmt::format("at {:#x} {} is {} only", segment.address,
                                            text_of(segment, lanes), where);
                       });
}

}  // namespace ohm
