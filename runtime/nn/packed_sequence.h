// Sequences of several lengths in one tensor, as recurrent layers take them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::nn {

/// The elements of all sequences, step by step: of each step those of the sequences that are that
/// long, the longest sequence first.
struct PackedSequence {
  Tensor data;
  Tensor batch_sizes;       ///< on the host: how many sequences reach each step
  Tensor sorted_indices;    ///< where sequences came from; undefined where they came sorted
  Tensor unsorted_indices;  ///< where they go back to
  // What the host knows, also where there are no values.
  std::vector<std::int64_t> sizes;  ///< the batch sizes
  std::vector<std::int64_t> order;  ///< the sorted indices
};

/// Packs [T, N, …] (batch first: [N, T, …]). Without `enforce_sorted` sequences are sorted by their
/// length, and the input goes before they are packed. Throws std::invalid_argument for lengths that
/// are not of this input.
PackedSequence pack_padded_sequence(Tensor input, const std::vector<std::int64_t>& lengths,
                                    bool is_batch_first, bool enforce_sorted);

struct PaddedSequences {
  Tensor data;
  Tensor lengths;  ///< on the host, in the order of the sequences
};

/// The inverse: sequences behind their ends are `padding_value`, up to `total_length` where that is
/// given.
PaddedSequences pad_packed_sequence(const PackedSequence& sequence, bool is_batch_first,
                                    double padding_value, std::optional<std::int64_t> total_length);

/// Sequences [length, …] in one tensor [T, N, …] (batch first: [N, T, …]), filled up with
/// `padding_value` at their end, or at their beginning.
Tensor pad_sequence(const std::vector<Tensor>& sequences, bool is_batch_first, double padding_value,
                    bool is_padded_left);

/// Where each entry of a permutation is in it.
Tensor invert_permutation(const Tensor& permutation);

}  // namespace ohm::nn
