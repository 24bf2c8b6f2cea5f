// The one buffer that cuDNN has for all weights of a recurrent network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// What the weights of a recurrent network are like.
struct RecurrentGeometry {
  std::int64_t gates;
  std::int64_t layers;
  std::int64_t directions;
  std::int64_t input_size;
  std::int64_t hidden_size;
  bool has_biases;
  std::int64_t projection_size = 0;  ///< 0: nothing is projected

  /// What a layer hands on, in each direction.
  std::int64_t output_size() const { return projection_size == 0 ? hidden_size : projection_size; }
};

/// Where weights lie in the one buffer that cuDNN has for them: matrices of all layers first, then
/// biases, for which there is room in any case. Weights are counted as modules have them:
/// weight_ih, weight_hh, bias_ih and bias_hh of each layer and direction, and weight_hr where there
/// are projections.
class RecurrentBuffer {
 public:
  explicit RecurrentBuffer(const RecurrentGeometry& geometry) : geometry_(geometry) {}

  std::int64_t numel() const;
  /// Of weight `i`, in elements.
  std::int64_t offset(std::size_t i) const;

 private:
  std::int64_t matrix_rows() const { return geometry_.gates * geometry_.hidden_size; }
  std::int64_t width(std::int64_t part) const;
  std::int64_t both_matrices(std::int64_t part) const;
  std::size_t weights_of_part() const { return geometry_.projection_size == 0 ? 4 : 5; }
  std::int64_t parts() const { return geometry_.layers * geometry_.directions; }
  std::int64_t matrices_before(std::int64_t part) const;

  RecurrentGeometry geometry_;
};

/// Gives all weights their places in one buffer, where cuDNN could take them: the weights stay the
/// same objects. Undefined ones are left out. What nn.LSTM's flatten_parameters() does.
void flatten_recurrent_weights(const std::vector<Tensor>& weights,
                               const RecurrentGeometry& geometry);

std::vector<Tensor> defined_ones(const std::vector<Tensor>& tensors);

/// Whether what cuDNN could take of this tensor is left to it.
bool is_cudnn_on(const Tensor& tensor);

/// Tensors like the weights, at their places in `buffer`; undefined where weights are.
std::vector<Tensor> pieces_of(const Tensor& buffer, const std::vector<Tensor>& weights,
                              const RecurrentGeometry& geometry);
/// The buffer that the weights lie in; undefined where they lie anywhere else.
Tensor buffer_of(const std::vector<Tensor>& weights, const RecurrentGeometry& geometry);
/// A new one with copies of them.
Tensor filled_buffer(const std::vector<Tensor>& weights, const RecurrentGeometry& geometry);

}  // namespace ohm::ops
