#include "runtime/ops/recurrent/cudnn_recurrent.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "allocator_shim/device/recurrent_reserve.h"
#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/recurrent/recurrent_values.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

Tensor steps_first(const Tensor& tensor, const CudnnRecurrent& network) {
  if (!network.is_batch_first || !network.sizes.empty()) return tensor;
  Shape sizes = tensor.shape();
  Shape strides = tensor.strides();
  std::swap(sizes[0], sizes[1]);
  std::swap(strides[0], strides[1]);
  return make_view(tensor, sizes, strides, tensor.impl()->offset);
}

// The inverse, of a tensor that has no other owner.
Tensor as_asked(const Tensor& fresh, const CudnnRecurrent& network) {
  Tensor result = steps_first(fresh, network);
  result.impl()->is_view = false;
  return result;
}

// ---- backward -----------------------------------------------------------------------------------

// Places of what a node saves, in the order in which it is released: weights, which PyTorch has in
// a list, come last.
struct SavedOfNetwork {
  enum Place : std::size_t {
    kCell,
    kDropoutState,
    kHidden,
    kInput,
    kOutput,
    kReserve,
    kBuffer,
    kFirstWeight
  };
};

// Backward writes to what the forward pass has kept: a copy of it where the graph stays.
Tensor reserve_of(const BackwardCall& call) {
  Tensor reserve = call.saved(SavedOfNetwork::kReserve);
  return autograd_state().retains_graph ? copy_of(reserve) : reserve;
}

/// A backward pass of the network.
class RecurrentBackward {
 public:
  RecurrentBackward(const BackwardCall& call, const CudnnRecurrent& network,
                    const std::vector<bool>& has_weight, const PhiloxGenerator& draws)
      : call_(call), network_(network), draws_(draws) {
    inputs_.cell = call.saved(SavedOfNetwork::kCell);
    inputs_.hidden = call.saved(SavedOfNetwork::kHidden);
    inputs_.input = call.saved(SavedOfNetwork::kInput);
    std::size_t place = SavedOfNetwork::kFirstWeight;
    for (const bool is_there : has_weight) {
      inputs_.weights.push_back(is_there ? call.saved(place++) : Tensor());
    }
    reserve_ = reserve_of(call);
  }

  RecurrentGradients run();

 private:
  void compute_input_gradients(const Tensor& grad_output, const Tensor& grad_hidden,
                               const Tensor& grad_cell);
  void compute_weight_gradients();
  bool needs_weights() const;
  Tensor filled_gradients() const;

  const BackwardCall& call_;
  const CudnnRecurrent& network_;
  const PhiloxGenerator& draws_;
  RecurrentInputs inputs_;
  Tensor reserve_;
  RecurrentGradients on_host_;
  RecurrentGradients results_;
};

bool RecurrentBackward::needs_weights() const {
  const std::size_t count = defined_ones(inputs_.weights).size();
  for (std::size_t i = 0; i < count; ++i) {
    if (call_.needs(1 + i)) return true;
  }
  return false;
}

void RecurrentBackward::compute_input_gradients(const Tensor& grad_output,
                                                const Tensor& grad_hidden,
                                                const Tensor& grad_cell) {
  const auto like = [](const Tensor& tensor) {
    return tensor.defined() ? empty(tensor.shape(), options_of(tensor)) : Tensor();
  };
  RecurrentInputs seen = inputs_;
  seen.input = row_major(steps_first(inputs_.input, network_));
  const Tensor output_part = row_major(steps_first(grad_output, network_));
  Tensor input = like(seen.input);
  const Tensor hidden_part = row_major(grad_hidden);
  const Tensor cell_part = grad_cell.defined() ? row_major(grad_cell) : Tensor();
  Tensor hidden = like(inputs_.hidden);
  Tensor cell = like(inputs_.cell);
  if (!network_.is_training) {
    throw std::invalid_argument("cudnn RNN backward can only be called in training mode");
  }
  if (input.has_values()) {
    on_host_ = gradients_on_host(seen, network_, draws_, {output_part, hidden_part, cell_part});
    copy_into(input, on_host_.input);
    copy_into(hidden, on_host_.hidden);
    if (cell.defined()) copy_into(cell, on_host_.cell);
  }
  results_.input = as_asked(input, network_);
  results_.hidden = std::move(hidden);
  results_.cell = std::move(cell);
}

Tensor RecurrentBackward::filled_gradients() const {
  Tensor buffer =
      zeros({RecurrentBuffer(network_.geometry).numel()}, options_of(inputs_.weights.front()));
  if (!buffer.has_values()) return buffer;
  const std::vector<Tensor> pieces = pieces_of(buffer, inputs_.weights, network_.geometry);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].defined()) copy_into(pieces[i], on_host_.weights[i]);
  }
  return buffer;
}

void RecurrentBackward::compute_weight_gradients() {
  const Tensor x = row_major(steps_first(inputs_.input, network_));
  const Tensor buffer = filled_gradients();
  results_.weights = pieces_of(buffer, inputs_.weights, network_.geometry);
  if (network_.geometry.has_biases) return;
  // Without biases PyTorch has gradients of their own.
  std::vector<Tensor> own;
  for (const Tensor& piece : results_.weights) {
    own.push_back(piece.defined() ? empty(piece.shape(), options_of(piece)) : Tensor());
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].defined()) copy_into(own[i], results_.weights[i]);
  }
  results_.weights = std::move(own);
}

RecurrentGradients RecurrentBackward::run() {
  const auto grad_or_zeros = [this](std::size_t i, const Shape& shape) {
    return call_.grad(i).defined() ? call_.grad(i) : zeros(shape, options_of(inputs_.hidden));
  };
  const Tensor grad_output = grad_or_zeros(0, call_.output(0).shape);
  const Tensor grad_hidden = grad_or_zeros(1, inputs_.hidden.shape());
  const Tensor grad_cell =
      inputs_.cell.defined() ? grad_or_zeros(2, inputs_.cell.shape()) : Tensor();
  compute_input_gradients(grad_output, grad_hidden, grad_cell);
  if (needs_weights()) compute_weight_gradients();
  return std::move(results_);
}

TensorList recurrent_backward(const BackwardCall& call, const CudnnRecurrent& network,
                              const std::vector<bool>& has_weight, const PhiloxGenerator& draws) {
  RecurrentGradients gradients = RecurrentBackward(call, network, has_weight, draws).run();
  TensorList wanted;
  const auto add = [&](const Tensor& gradient) {
    wanted.push_back(call.needs(wanted.size()) ? gradient : Tensor());
  };
  add(gradients.input);
  for (std::size_t i = 0; i < has_weight.size(); ++i) {
    if (has_weight[i]) add(gradients.weights.empty() ? Tensor() : gradients.weights[i]);
  }
  add(gradients.hidden);
  if (gradients.cell.defined()) add(gradients.cell);
  gradients.input = Tensor();
  gradients.hidden = Tensor();
  gradients.cell = Tensor();
  return wanted;
}

}  // namespace

bool is_recurrent_done_by_cudnn(const Tensor& input) {
  const bool is_taken = input.dtype() == DType::bfloat16
                            ? Context::current().rules.cudnn_recurs_in_bfloat16
                            : is_floating(input.dtype());
  return is_cudnn_on(input) && is_taken && input.numel() != 0;
}

// ---- forward ------------------------------------------------------------------------------------

namespace {

void require_contiguous_states(const RecurrentInputs& inputs) {
  if (!inputs.hidden.is_contiguous()) throw std::invalid_argument("rnn: hx is not contiguous");
  if (inputs.cell.defined() && !inputs.cell.is_contiguous()) {
    throw std::invalid_argument("rnn: cx is not contiguous");
  }
}

bool has_dropout(const CudnnRecurrent& network) {
  return network.is_training && network.dropout > 0.0;
}

/// What a call draws dropout with.
struct NetworkDraws {
  PhiloxGenerator generator;
  Tensor state;  ///< on the device; undefined without dropout
};

// A number that the device draws.
std::uint64_t drawn_seed(DeviceSlot& gpu, Device device) {
  empty({}, {DType::int64, device});
  const std::uint64_t draw = gpu.generator.take(2);
  const std::uint64_t high = philox_word(gpu.generator.seed, draw, 1);
  return high << 32U | philox_word(gpu.generator.seed, draw, 0);
}

// The state is made at its first use, and where the device was seeded since.
NetworkDraws draws_of(const Tensor& input, const CudnnRecurrent& network) {
  if (!has_dropout(network)) return {};
  const Device device = input.device();
  DeviceSlot& gpu = Context::current().slot(device);
  CudnnDropout& dropout = gpu.cudnn_dropout;
  if (!dropout.state || dropout.is_stale) {
    dropout.generator = {drawn_seed(gpu, device), 0};
    const WorkspaceGuard guard;
    dropout.state = allocate_storage(
        gpu.has_measured_cudnn
            ? dropout_state_bytes(static_cast<std::size_t>(gpu.multiprocessors),
                                  static_cast<std::size_t>(gpu.threads_per_multiprocessor))
            : kAssumedDropoutStateBytes,
        device);
    dropout.is_stale = false;
  }
  NetworkDraws draws{dropout.generator, empty_bytes(0, device)};
  draws.state.impl()->storage = dropout.state;
  const RecurrentGeometry& geometry = network.geometry;
  const std::int64_t masks = geometry.hidden_size * geometry.directions * geometry.layers;
  dropout.generator.take(static_cast<std::uint64_t>(input.numel() / input.size(-1) * masks));
  return draws;
}

std::int64_t reserve_bytes(const Tensor& steps, const CudnnRecurrent& network) {
  DeviceSlot& gpu = Context::current().slot(steps.device());
  gpu.assumptions.add(Assumption::cudnn_rnn_reserve);
  if (!network.is_training || !gpu.has_recurrent_reserve) return 0;
  const RecurrentGeometry& geometry = network.geometry;
  const auto count = [](std::int64_t number) { return static_cast<std::size_t>(number); };
  return static_cast<std::int64_t>(recurrent_reserve_bytes(
      {count(geometry.gates), count(geometry.layers), count(geometry.directions),
       count(geometry.hidden_size), count(geometry.projection_size), item_bytes(steps.dtype()),
       has_dropout(network)},
      count(steps.numel() / steps.size(-1))));
}

// A weight's place in a buffer of another dtype, as an op of its own.
Tensor cast_into(const Tensor& place, const Tensor& weight) {
  Recorder record("CopyBackward", {&weight});
  copy_into(place, weight);
  record.attach(place, [dtype = weight.dtype()](BackwardCall& call) {
    return TensorList{cast(call.grad(), dtype)};
  });
  return place;
}

// Autocast gives cuDNN float16, whatever it gives other ops, and casts weights in one buffer.
RecurrentInputs autocast_inputs(const RecurrentInputs& inputs, const RecurrentGeometry& geometry,
                                Tensor& buffer) {
  const AutocastState* state = find_autocast_state();
  if (state == nullptr || !state->is_enabled) return inputs;
  const auto is_cast = [](const Tensor& tensor) {
    return tensor.dtype() == DType::float32 || tensor.dtype() == DType::bfloat16;
  };
  RecurrentInputs result = inputs;
  if (is_cast(inputs.weights.front())) {
    buffer = zeros({RecurrentBuffer(geometry).numel()}, {DType::float16, inputs.input.device()});
    result.weights = pieces_of(buffer, inputs.weights, geometry);
    for (std::size_t i = 0; i < result.weights.size(); ++i) {
      if (inputs.weights[i].defined()) cast_into(result.weights[i], inputs.weights[i]);
    }
  }
  for (Tensor* tensor : {&result.cell, &result.hidden, &result.input}) {
    if (tensor->defined() && is_cast(*tensor)) *tensor = to_dtype(*tensor, DType::float16);
  }
  return result;
}

/// A call of the network on what it is given in the end.
class RecurrentForward {
 public:
  RecurrentForward(const RecurrentInputs& inputs, const CudnnRecurrent& network,
                   const NetworkDraws& draws, Tensor& buffer, Tensor& reserve)
      : inputs_(inputs),
        network_(network),
        draws_(draws.generator),
        buffer_(buffer),
        reserve_(reserve),
        weights_(defined_ones(inputs.weights)),
        record_("CudnnRnnBackward", differentiable()) {
    record_.save(inputs.cell);
    record_.save(draws.state);
    record_.save(inputs.hidden);
    record_.save(inputs.input);
  }

  std::vector<Tensor> run() {
    const bool is_flat = buffer_.defined();
    run_kernel();
    record_.save_output(results_[0]);
    record_.save(reserve_);
    record_.save(is_flat ? Tensor() : buffer_);
    for (const Tensor& weight : weights_) record_.save(weight);
    attach();
    return std::move(results_);
  }

 private:
  std::vector<Tensor> differentiable() const {
    std::vector<Tensor> inputs{inputs_.input};
    inputs.insert(inputs.end(), weights_.begin(), weights_.end());
    inputs.push_back(inputs_.hidden);
    if (inputs_.cell.defined()) inputs.push_back(inputs_.cell);
    return inputs;
  }

  void run_kernel() {
    const Tensor input = steps_first(inputs_.input, network_);
    RecurrentInputs seen = inputs_;
    seen.input = row_major(input);
    Shape shape = input.shape();
    shape[shape.dims() - 1] = network_.geometry.output_size() * network_.geometry.directions;
    const Tensor steps = empty(shape, options_of(input));
    results_ = {steps, empty(inputs_.hidden.shape(), options_of(inputs_.hidden))};
    if (inputs_.cell.defined()) {
      results_.push_back(empty(inputs_.cell.shape(), options_of(inputs_.cell)));
    }
    if (!buffer_.defined()) buffer_ = filled_buffer(inputs_.weights, network_.geometry);
    reserve_ = empty_bytes(reserve_bytes(steps, network_), steps.device());
    compute_on_host(seen, network_, draws_, results_);
    results_[0] = as_asked(steps, network_);
  }

  void attach() {
    std::vector<bool> has_weight;
    for (const Tensor& weight : inputs_.weights) has_weight.push_back(weight.defined());
    record_.attach(results_, [network = network_, has_weight, draws = draws_](BackwardCall& call) {
      return recurrent_backward(call, network, has_weight, draws);
    });
  }

  const RecurrentInputs& inputs_;
  const CudnnRecurrent& network_;
  const PhiloxGenerator& draws_;
  Tensor& buffer_;
  Tensor& reserve_;
  std::vector<Tensor> weights_;
  Recorder record_;
  std::vector<Tensor> results_;
};

}  // namespace

std::vector<Tensor> cudnn_recurrent(const RecurrentInputs& inputs, const CudnnRecurrent& network) {
  const OpGuard op("_cudnn_rnn");
  require_contiguous_states(inputs);
  // Both are results of PyTorch's, which its caller lets go.
  Tensor buffer = buffer_of(inputs.weights, network.geometry);
  Tensor reserve;
  const NetworkDraws draws = draws_of(inputs.input, network);
  RecurrentInputs cast = autocast_inputs(inputs, network.geometry, buffer);
  std::vector<Tensor> results = RecurrentForward(cast, network, draws, buffer, reserve).run();
  cast.input = Tensor();
  cast.hidden = Tensor();
  cast.cell = Tensor();
  return results;
}

}  // namespace ohm::ops
