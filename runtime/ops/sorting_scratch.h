// The device memory that a GPU library's sorts, selections and scans take beside their results.
//
// Note [Scratch of the sorting kernels]
// The library lays its parts out in one request: each part rounded up to 256 bytes, and 255 bytes
// to align the first. The figures agree with the recorded requests for 512 and 4,096 indices; how
// many elements one block handles (and with it the number of blocks for many more indices) is taken
// from the library's defaults, so it is modelled.
#pragma once

#include <cstdint>

#include "runtime/tensor/device.h"

namespace ohm::ops {

/// Of a sort of `count` pairs of two integers of `item_bytes` each.
std::int64_t sort_scratch_bytes(std::int64_t count, std::int64_t item_bytes, Device device);

/// Of a scan or selection of `count` elements, with a state of `state_bytes` for each block.
std::int64_t scan_scratch_bytes(std::int64_t count, std::int64_t state_bytes);

}  // namespace ohm::ops
