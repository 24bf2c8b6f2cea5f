// Elements that index tensors name, written over or added to, as x[i, :, j] = v of Python.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// A copy of `input` with `values`, which broadcast to what index() would give, where the index
/// tensors name elements: see index.h. With `accumulate` they are added, each as often as it is
/// named, by a kernel that sorts the indices first; without, the last one stays.
Tensor index_put(const Tensor& input, const std::vector<Tensor>& indices, const Tensor& values,
                 bool accumulate, const std::optional<Shape>& dims = std::nullopt);
/// In place. One number of the host fills what a single mask chooses: no place is looked for. A
/// number, for which PyTorch has no such op, is written as `x[i, :, j] = number` does it.
Tensor index_put_(const Tensor& input, const std::vector<Tensor>& indices,
                  const TensorOrNumber& values, bool accumulate,
                  const std::optional<Shape>& dims = std::nullopt);

/// x[index] = values, of Python: dimensions of size 1 that `values` begin with do not count.
void set_at(const Tensor& input, const Tensor& index, const TensorOrNumber& values);

std::vector<OpDef> index_put_ops();

}  // namespace ohm::ops
