// The device memory that a GPU library's sorts, selections and scans take beside their results.
//
// Note [Scratch of the sorting kernels]
// The library lays its parts out in one request: each part rounded up to 256 bytes, and 255 bytes
// to align the first. A scan holds a state for each block, twice an element wide, and for 32 more.
// How many elements one block handles follows from where the recorded requests of 1 to 10,000,000
// elements grow. The library of CUDA 13 wants one part more for scans and selections, and picks the
// first of each run of equal keys with other blocks.
#pragma once

#include <cstdint>

#include "runtime/base/device.h"
#include "runtime/base/dtype.h"

namespace ohm::ops {

/// Of a sort of `count` pairs of two integers of `item_bytes` each, by all of their bits.
std::int64_t sort_scratch_bytes(std::int64_t count, std::int64_t item_bytes, Device device);

/// The same, where keys are at most `largest_key`: from CUDA 13 on their bits alone are looked at.
std::int64_t bounded_sort_scratch_bytes(std::int64_t count, std::int64_t item_bytes,
                                        std::int64_t largest_key, Device device);

/// Of a sort of `count` pairs of two int64, by the bits of the largest key alone.
std::int64_t place_sort_scratch_bytes(std::int64_t count, std::int64_t largest_key, Device device);

/// Of a sort of `count` keys of this dtype, alone or each with an int64. Pre-condition: no bools.
std::int64_t key_sort_scratch_bytes(std::int64_t count, DType dtype, Device device);
std::int64_t numbered_sort_scratch_bytes(std::int64_t count, DType dtype, Device device);

/// Of a sort of `count` int64 by one byte of theirs.
std::int64_t byte_sort_scratch_bytes(std::int64_t count, Device device);

/// Of a sort of `count` keys of this dtype, each with an int64, in segments.
std::int64_t segmented_sort_scratch_bytes(std::int64_t count, DType dtype);

/// Of picking the first of each run of equal neighbours among `count` keys of this dtype.
std::int64_t distinct_scratch_bytes(std::int64_t count, DType dtype, Device device);

/// Of the numbers of those runs, element by element.
std::int64_t run_number_scratch_bytes(std::int64_t count, Device device);

/// Of the first of each run and how long it is.
std::int64_t run_length_scratch_bytes(std::int64_t count, Device device);

/// Of a running sum of `count` elements of this dtype.
std::int64_t scan_scratch_bytes(std::int64_t count, DType dtype, Device device);

/// Of picking the first of each run of equal neighbours among `count` pairs of two integers of
/// `item_bytes` each.
std::int64_t selection_scratch_bytes(std::int64_t count, std::int64_t item_bytes, Device device);

/// Of listing the places that are marked among `count`.
std::int64_t flagged_selection_scratch_bytes(std::int64_t count, Device device);

/// Of adding up `count` elements by a device-wide reduction.
std::int64_t device_sum_scratch_bytes(std::int64_t count, Device device);

/// Of running sums of `count` integers, each starting anew where its key changes.
std::int64_t keyed_scan_scratch_bytes(std::int64_t count, Device device);

}  // namespace ohm::ops
