// Another process on a card: it holds memory, and gives it back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "allocator_shim/device/virtual_gpu.h"

namespace ohm::engine {

/// On the card from the first byte that it is to hold; until then it does not show.
class Neighbour {
 public:
  Neighbour(std::shared_ptr<SharedGpuMemory> memory, int device)
      : memory_(std::move(memory)), device_(device) {}

  /// Holds this much from now on, or all that is free if that is less.
  void hold(std::size_t bytes) {
    if (bytes == wanted_bytes_) return;
    wanted_bytes_ = bytes;
    if (!process_) process_.emplace(memory_, options());
    if (address_) process_->free_segment(*address_, held_bytes_);
    address_.reset();
    held_bytes_ = std::min(bytes, process_->info().free_bytes) / kUnitBytes * kUnitBytes;
    if (held_bytes_ != 0) address_ = process_->allocate_segment(held_bytes_);
  }

 private:
  static constexpr std::size_t kUnitBytes = 512;

  VirtualGpuOptions options() const {
    VirtualGpuOptions options;
    options.device = device_;
    options.process_id = 1000;
    return options;
  }

  std::shared_ptr<SharedGpuMemory> memory_;
  int device_;
  std::optional<VirtualGpu> process_;
  std::optional<DeviceAddress> address_;
  std::size_t wanted_bytes_ = 0;
  std::size_t held_bytes_ = 0;
};

}  // namespace ohm::engine
