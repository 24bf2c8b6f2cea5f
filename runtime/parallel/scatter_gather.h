// A batch spread over GPUs and put together again, in the graph.
#pragma once

#include <vector>

#include "runtime/ops/value.h"
#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

/// `input` [batch, *] cut along the batch into one piece for each device: a view where the device
/// is the input's own, else a copy. From the host the copies are made on a side stream. Fewer
/// pieces than devices when the batch is too small.
std::vector<Tensor> scatter(const Tensor& input, const std::vector<Device>& devices);

/// A copy of a tensor of the host's, made on a side stream.
Tensor copied_from_host(const Tensor& tensor, Device device);

/// Arguments of a call, one list for each piece: tensors are scattered, all else is repeated.
std::vector<std::vector<ops::Value>> scatter_arguments(const std::vector<ops::Value>& arguments,
                                                       const std::vector<Device>& devices);

/// The pieces [batch_i, *] behind one another in a new tensor on `device`; scalars become a vector
/// of one entry each.
Tensor gather(const std::vector<Tensor>& pieces, Device device);

}  // namespace ohm::parallel
