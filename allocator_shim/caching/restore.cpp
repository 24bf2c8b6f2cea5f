// An allocator takes over a state: the counterpart of CachingAllocator::segments().
#include <fmt/format.h>

#include <stdexcept>
#include <unordered_map>

#include "allocator_shim/base/size_policy.h"
#include "allocator_shim/caching/caching_allocator.h"

namespace ohm {
namespace {

[[noreturn]] void refuse(DeviceAddress address, const char* why) {
  throw std::invalid_argument(fmt::format("[restore] {:#x}: {}", address, why));
}

void require(bool holds, DeviceAddress address, const char* why) {
  if (!holds) refuse(address, why);
}

bool is_whole(std::uint64_t bytes) { return bytes % kMinBlockBytes == 0; }

/// What a block has to be, whatever stands beside it.
void check(const BlockView& view) {
  require(is_whole(view.address), view.address, "a block begins at a multiple of 512");
  require(view.bytes > 0 && is_whole(view.bytes), view.address,
          "a block has a multiple of 512 bytes");
  require(view.address + view.bytes > view.address, view.address, "a block ends after it begins");
  require(view.state != BlockView::State::active_pending_free, view.address,
          "a pending free waits for events that cannot be restored");
  if (view.state == BlockView::State::inactive) return;
  require(view.requested_bytes > 0 && view.requested_bytes <= view.bytes, view.address,
          "a block holds its request");
}

}  // namespace

class CachingAllocator::Restorer {
 public:
  Restorer(CachingAllocator& allocator, const std::vector<DeviceAddress>& oldest_first)
      : allocator_(allocator) {
    if (!allocator_.rules_.orders_blocks_by_segment) return;
    for (const DeviceAddress address : oldest_first) {
      numbers_.emplace(address, allocator_.next_segment_number());
    }
  }

  std::vector<BlockHandle> run(const std::vector<SegmentView>& views) {
    for (const SegmentView& view : views) add(view);
    finish_reservation();
    allocator_.counters_.reset_peak();
    allocator_.counters_.reset_accumulated();
    allocator_.peak_category_bytes_ = allocator_.category_bytes_;
    if (!views.empty()) {
      allocator_.keeps_values_ = allocator_.memory_.host_pointer(views.front().address) != nullptr;
    }
    return std::move(allocated_);
  }

 private:
  void add(const SegmentView& view) {
    const bool continues = reservation_ != nullptr && view.is_expandable &&
                           view.reservation_address == reservation_address_;
    if (!continues) begin_segment(view);
    if (view.is_expandable) add_unmapped(view.address);
    require(view.address == end_, view.address, "ranges are in address order");
    for (const BlockView& block : view.blocks) add(block);
    require(end_ == view.address + view.bytes, view.address, "blocks tile their segment");
    if (!view.is_expandable) count_segment(view);
    allocator_.counters_.increase(pool_->kind(), Metric::reserved_bytes,
                                  static_cast<std::int64_t>(view.bytes));
  }

  void begin_segment(const SegmentView& view) {
    finish_reservation();
    require(view.bytes > 0, view.address, "a segment has memory");
    const DeviceAddress address = view.is_expandable ? view.reservation_address : view.address;
    const std::size_t bytes = view.is_expandable ? view.reservation_bytes : view.bytes;
    require(address >= end_ && address + bytes > address, view.address, "segments do not overlap");
    allocator_.switch_stream(view.stream);
    pool_ = &allocator_.last_pools_->of(view.is_small ? PoolKind::small : PoolKind::large);
    is_expandable_ = view.is_expandable;
    const std::size_t chunk = view.is_small ? kSmallBufferBytes : kLargeBufferBytes;
    Segment& segment =
        allocator_.segments_.emplace(address, Segment{nullptr, bytes, is_expandable_ ? chunk : 0})
            .first->second;
    const auto number = numbers_.find(address);
    segment_number_ = number == numbers_.end() ? 0 : number->second;
    last_ = nullptr;
    first_ = &segment.first;
    end_ = address;
    if (!is_expandable_) return;
    require(bytes % chunk == 0, address, "a reservation has whole chunks");
    reservation_ = &segment;
    reservation_address_ = address;
  }

  void finish_reservation() {
    if (reservation_ == nullptr) return;
    const DeviceAddress end = reservation_address_ + reservation_->bytes;
    require(end >= end_, reservation_address_, "ranges lie within their reservation");
    add_unmapped(end);
    reservation_ = nullptr;
  }

  Block& append(DeviceAddress address, std::size_t bytes) {
    Block& block = allocator_.blocks_.create({});
    block.address = address;
    block.bytes = bytes;
    block.pool = pool_;
    block.segment_number = segment_number_;
    block.is_expandable = is_expandable_;
    block.previous = last_;
    (last_ == nullptr ? *first_ : last_->next) = &block;
    last_ = &block;
    end_ = block.end();
    return block;
  }

  void add_unmapped(DeviceAddress end) {
    require(end >= end_, end, "ranges are in address order");
    if (end == end_) return;
    require((end - end_) % reservation_->chunk_bytes == 0, end, "whole chunks are mapped");
    Block& block = append(end_, end - end_);
    block.is_mapped = false;
    pool_->unmapped.emplace(block.address, &block);
  }

  void add(const BlockView& view) {
    check(view);
    require(view.address == end_, view.address, "blocks tile their segment");
    const bool is_free = view.state == BlockView::State::inactive;
    const bool follows_free = last_ != nullptr && last_->is_free() && last_->is_mapped;
    require(!is_free || !follows_free, view.address, "free neighbours have merged");
    Block& block = append(view.address, view.bytes);
    block.requested_bytes = view.requested_bytes;
    if (is_free) {
      allocator_.put_into_pool(block);
      return;
    }
    block.state = BlockState::allocated;
    block.site = view.site;
    block.category = view.category;
    count_allocated(block);
    allocated_.push_back(&block);
  }

  void count_allocated(const Block& block) {
    const auto bytes = static_cast<std::int64_t>(block.bytes);
    allocator_.counters_.block_allocated(pool_->kind(), bytes,
                                         static_cast<std::int64_t>(block.requested_bytes));
    allocator_.category_bytes_[static_cast<std::size_t>(block.category)] += bytes;
    if (block.bytes >= allocator_.settings_.max_split_size_bytes) {
      allocator_.counters_.oversize_allocations.increase(1);
    }
  }

  /// Of a segment that is not expandable.
  void count_segment(const SegmentView& view) {
    StatCounters& counters = allocator_.counters_;
    counters.increase(pool_->kind(), Metric::segment, 1);
    if (view.bytes >= allocator_.settings_.max_split_size_bytes) {
      counters.oversize_segments.increase(1);
    }
    for (const Block* block = *first_; block != nullptr; block = block->next) {
      if (!block->is_free() || !block->is_split()) continue;
      counters.increase(pool_->kind(), Metric::inactive_split, 1);
      counters.increase(pool_->kind(), Metric::inactive_split_bytes,
                        static_cast<std::int64_t>(block->bytes));
    }
  }

  CachingAllocator& allocator_;
  std::unordered_map<DeviceAddress, std::uint32_t> numbers_;  ///< of segments, by where they begin
  std::vector<BlockHandle> allocated_;
  BlockPool* pool_ = nullptr;
  std::uint32_t segment_number_ = 0;
  bool is_expandable_ = false;
  Segment* reservation_ = nullptr;  ///< the expandable one that is being filled
  DeviceAddress reservation_address_ = 0;
  Block** first_ = nullptr;  ///< where the segment keeps its first block
  Block* last_ = nullptr;
  DeviceAddress end_ = 0;  ///< of what was added so far
};

std::vector<BlockHandle> CachingAllocator::restore(const std::vector<SegmentView>& segments,
                                                   const std::vector<DeviceAddress>& oldest_first) {
  OHM_ASSERT(segments_.empty(), "only an allocator that holds nothing can take over a state");
  try {
    return Restorer(*this, oldest_first).run(segments);
  } catch (...) {
    segments_.clear();
    throw;
  }
}

}  // namespace ohm
