// Calls of ops, to be computed on a CUDA device and on the host.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/tensor/tensor.h"

namespace ohm::truth {

/// The elements of each result, then of the gradient of each floating input.
using Values = std::vector<std::vector<double>>;

/// `compute` rounds the inputs to `rounded`, and computes in `dtype` on the device.
struct OpCall {
  std::string name;
  std::function<Values(DType rounded, DType dtype, Device device)> compute;
};

using TensorFunction = std::function<Tensor(const std::vector<Tensor>& inputs)>;

/// A function of inputs of these shapes, whose elements are between -1 and 1.
OpCall call_of(const std::string& name, const std::vector<Shape>& shapes,
               const TensorFunction& function);

/// Every sample of every op. Their tensors are made for the installed context.
std::vector<OpCall> sampled_calls();
/// What cuBLAS, cuBLASLt and cuDNN are asked for: shapes, layouts and sizes at which a library
/// chooses another kernel.
std::vector<OpCall> library_calls();
/// More elements, rows and columns than the threads of a launch take at once.
std::vector<OpCall> long_calls();

}  // namespace ohm::truth
