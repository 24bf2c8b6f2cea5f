#include "runtime/nn/packed_sequence.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/indexing/scatter.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"

namespace ohm::nn {
namespace {

using Lengths = std::vector<std::int64_t>;

Tensor host_integers(const Lengths& numbers) {
  return from_values({numbers.begin(), numbers.end()}, {static_cast<std::int64_t>(numbers.size())},
                     {DType::int64, Device::cpu()});
}

// PyTorch's sort keeps the order of equal ones on the host.
Lengths falling_order(const Lengths& lengths) {
  Lengths order(lengths.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return lengths[static_cast<std::size_t>(a)] > lengths[static_cast<std::size_t>(b)];
  });
  return order;
}

void require_lengths(const Tensor& input, const Lengths& lengths, bool is_batch_first) {
  if (input.dims() < 2) {
    throw std::invalid_argument("[pack_padded_sequence] the input needs two dimensions or more");
  }
  const std::int64_t batch = input.size(is_batch_first ? 0 : 1);
  const std::int64_t steps = input.size(is_batch_first ? 1 : 0);
  if (static_cast<std::int64_t>(lengths.size()) != batch || lengths.empty()) {
    throw std::invalid_argument(fmt::format(
        "[pack_padded_sequence] Expected `len(lengths)` to be equal to batch_size, but got {} "
        "(batch_size={})",
        lengths.size(), batch));
  }
  for (const std::int64_t length : lengths) {
    if (length >= 1 && length <= steps) continue;
    throw std::invalid_argument(fmt::format(
        "[pack_padded_sequence] a length is {}: lengths are from 1 to the {} steps of the input",
        length, steps));
  }
}

void require_falling(const Lengths& lengths) {
  if (std::is_sorted(lengths.rbegin(), lengths.rend())) return;
  throw std::invalid_argument(
      "[pack_padded_sequence] `lengths` array must be sorted in decreasing order when "
      "`enforce_sorted` is True. You can pass `enforce_sorted=False` to pack_padded_sequence "
      "and/or "
      "pack_sequence to sidestep this requirement if you do not need ONNX exportability.");
}

Lengths sizes_of_steps(const Lengths& falling) {
  Lengths sizes;
  std::size_t left = falling.size();
  for (std::int64_t step = 0; step < falling.front(); ++step) {
    while (falling[left - 1] <= step) --left;
    sizes.push_back(static_cast<std::int64_t>(left));
  }
  return sizes;
}

/// As many steps as have one batch size.
struct EqualSteps {
  std::int64_t first;
  std::int64_t last;  ///< behind them
  std::int64_t size;
};

std::vector<EqualSteps> equal_steps(const Lengths& sizes) {
  std::vector<EqualSteps> runs;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i);
    if (runs.empty() || runs.back().size != sizes[i]) runs.push_back({step, step, sizes[i]});
    ++runs.back().last;
  }
  return runs;
}

// In the order in which they came.
Lengths lengths_of(const PackedSequence& sequence) {
  Lengths lengths(static_cast<std::size_t>(sequence.sizes.front()));
  std::size_t steps = sequence.sizes.size();
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    while (sequence.sizes[steps - 1] <= static_cast<std::int64_t>(i)) --steps;
    const std::size_t place =
        sequence.order.empty() ? i : static_cast<std::size_t>(sequence.order[i]);
    lengths[place] = static_cast<std::int64_t>(steps);
  }
  return lengths;
}

Shape with_first(const Shape& shape, std::initializer_list<std::int64_t> first, int dropped) {
  Shape result(first);
  for (int dim = dropped; dim < shape.dims(); ++dim) result.push_back(shape[dim]);
  return result;
}

Tensor packed(const Tensor& steps_first, const Lengths& sizes) {
  const NoGradGuard no_graph;
  std::vector<Tensor> pieces;
  for (const EqualSteps& run : equal_steps(sizes)) {
    const Tensor steps = ops::narrow(steps_first, 0, run.first, run.last - run.first);
    const Tensor piece = ops::contiguous(ops::narrow(steps, 1, 0, run.size));
    pieces.push_back(
        ops::view(piece, with_first(piece.shape(), {run.size * (run.last - run.first)}, 2)));
  }
  return ops::cat(pieces, 0);
}

Tensor unpacked_gradient(const Tensor& grad, const Shape& shape, const Lengths& sizes) {
  Tensor whole = zeros(shape, options_of(grad));
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Tensor step = ops::select(whole, 0, static_cast<std::int64_t>(i));
    ops::copy_(ops::narrow(step, 0, 0, sizes[i]), ops::narrow(grad, 0, offset, sizes[i]));
    offset += sizes[i];
  }
  return whole;
}

Tensor pack(const Tensor& input, const Lengths& sizes, bool is_batch_first) {
  Recorder record("PackPaddedSequenceBackward", {&input});
  const auto steps_first = [is_batch_first](const Tensor& tensor) {
    const NoGradGuard no_graph;
    return is_batch_first ? ops::transpose(tensor, 0, 1) : tensor;
  };
  const Tensor ordered = steps_first(input);
  const Shape shape = ordered.shape();
  Tensor out = packed(ordered, sizes);
  record.attach(out, [sizes, shape, is_batch_first](BackwardCall& call) {
    const Tensor grad = unpacked_gradient(call.grad(), shape, sizes);
    return TensorList{is_batch_first ? ops::transpose(grad, 0, 1) : grad};
  });
  return out;
}

}  // namespace

Tensor invert_permutation(const Tensor& permutation) {
  Tensor output = empty(permutation.shape(), options_of(permutation));
  ops::scatter_(output, 0, permutation, arange(0, 1, permutation.numel(), options_of(permutation)));
  return output;
}

PackedSequence pack_padded_sequence(Tensor input, const Lengths& lengths, bool is_batch_first,
                                    bool enforce_sorted) {
  require_lengths(input, lengths, is_batch_first);
  PackedSequence result;
  Lengths falling = lengths;
  if (enforce_sorted) {
    require_falling(lengths);
  } else {
    result.order = falling_order(lengths);
    std::sort(falling.rbegin(), falling.rend());
    result.sorted_indices = ops::to(host_integers(result.order), input.device(), std::nullopt,
                                    ops::Transfer::blocking, std::nullopt);
    input = ops::index_select(input, is_batch_first ? 0 : 1, result.sorted_indices);
  }
  result.sizes = sizes_of_steps(falling);
  result.data = pack(input, result.sizes, is_batch_first);
  result.batch_sizes = host_integers(result.sizes);
  if (!enforce_sorted) result.unsorted_indices = invert_permutation(result.sorted_indices);
  return result;
}

PaddedSequences pad_packed_sequence(const PackedSequence& sequence, bool is_batch_first,
                                    double padding_value,
                                    std::optional<std::int64_t> total_length) {
  const Lengths& sizes = sequence.sizes;
  const auto steps = static_cast<std::int64_t>(sizes.size());
  if (total_length && *total_length < steps) {
    throw std::invalid_argument(fmt::format(
        "[pad_packed_sequence] Expected total_length to be at least the length of the longest "
        "sequence in input, but got total_length={} and max sequence length being {}",
        *total_length, steps));
  }
  const Tensor& data = sequence.data;
  const std::int64_t batch = sizes.front();
  Tensor output = full(with_first(data.shape(), {total_length.value_or(steps), batch}, 1),
                       padding_value, options_of(data));
  std::int64_t offset = 0;
  for (const EqualSteps& run : equal_steps(sizes)) {
    const std::int64_t count = (run.last - run.first) * run.size;
    const Tensor source = ops::view(ops::narrow(data, 0, offset, count),
                                    with_first(data.shape(), {run.last - run.first, run.size}, 1));
    ops::copy_(ops::narrow(ops::narrow(output, 0, run.first, run.last - run.first), 1, 0, run.size),
               source);
    offset += count;
  }
  if (is_batch_first) output = ops::transpose(output, 0, 1);
  if (sequence.unsorted_indices.defined()) {
    output = ops::index_select(output, is_batch_first ? 0 : 1, sequence.unsorted_indices);
  }
  return {output, host_integers(lengths_of(sequence))};
}

Tensor pad_sequence(const std::vector<Tensor>& sequences, bool is_batch_first, double padding_value,
                    bool is_padded_left) {
  if (sequences.empty()) {
    throw std::invalid_argument("[pad_sequence] received an empty list of sequences");
  }
  std::int64_t longest = 0;
  for (const Tensor& sequence : sequences) {
    if (sequence.dims() == 0) {
      throw std::invalid_argument("[pad_sequence] a sequence has no dimensions");
    }
    longest = std::max(longest, sequence.size(0));
  }
  const auto count = static_cast<std::int64_t>(sequences.size());
  const Shape& first = sequences.front().shape();
  const Shape shape = is_batch_first ? with_first(first, {count, longest}, 1)
                                     : with_first(first, {longest, count}, 1);
  Tensor out = full(shape, padding_value, options_of(sequences.front()));
  for (std::int64_t i = 0; i < count; ++i) {
    const Tensor& sequence = sequences[static_cast<std::size_t>(i)];
    const std::int64_t length = sequence.size(0);
    const std::int64_t start = is_padded_left ? longest - length : 0;
    if (is_batch_first) {
      ops::copy_(ops::narrow(ops::select(out, 0, i), 0, start, length), sequence);
    } else {
      ops::copy_(ops::select(ops::narrow(out, 0, start, length), 1, i), sequence);
    }
  }
  return out;
}

}  // namespace ohm::nn
