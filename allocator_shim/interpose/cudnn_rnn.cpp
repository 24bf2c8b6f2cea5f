// cuDNN's recurrent networks: how their weights lie in one space, which programs fill themselves,
// and what they keep for backward.
// Matrices of all layers come first, each gate's input matrix before the recurrent ones, and the
// projection of what is hidden behind them; then biases.
#include <algorithm>
#include <cstddef>
#include <numeric>

#include "allocator_shim/device/recurrent_reserve.h"
#include "allocator_shim/interpose/cudnn_tensor.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"

using namespace ohm::interpose;

namespace {

struct RnnDescriptor {
  int gates;   ///< matrices of each kind in a layer
  int biases;  ///< of each gate: none, one, or one for each matrix
  int directions;
  int data_type;
  int input_size;
  int hidden_size;
  int projection_size;  ///< what a layer hands on; the hidden size where nothing is projected
  int layers;
  float dropout;  ///< between the layers
};

struct DropoutDescriptor {
  float probability;
  void* states;
  unsigned long long seed;
};

/// Sequences, whose steps are rows of a matrix.
struct RnnDataDescriptor {
  std::size_t rows;
};

// Numbers of cudnnRNNMode_t, cudnnRNNBiasMode_t.
int gates_of(int cell) {
  constexpr int kLstm = 2;
  constexpr int kGru = 3;
  return cell == kLstm ? 4 : cell == kGru ? 3 : 1;
}

int biases_of(int bias) {
  constexpr int kNone = 0;
  constexpr int kDouble = 2;
  return bias == kNone ? 0 : bias == kDouble ? 2 : 1;
}

/// Of a matrix in the space, in elements.
struct MatrixPlace {
  std::size_t rows;
  std::size_t columns;
  std::size_t first;
};

/// Elements of parts of the space; a pseudo-layer is a layer in one direction.
struct WeightLayout {
  explicit WeightLayout(const RnnDescriptor& rnn) : rnn(rnn) {}

  std::size_t hidden() const { return static_cast<std::size_t>(rnn.hidden_size); }
  /// Elements of a layer's output, which its recurrent matrices take.
  std::size_t outputs() const { return static_cast<std::size_t>(rnn.projection_size); }
  std::size_t gates() const { return static_cast<std::size_t>(rnn.gates); }
  std::size_t pseudo_layers() const {
    return static_cast<std::size_t>(rnn.layers) * static_cast<std::size_t>(rnn.directions);
  }
  std::size_t inputs(std::size_t layer) const {
    const auto directions = static_cast<std::size_t>(rnn.directions);
    return layer < directions ? static_cast<std::size_t>(rnn.input_size) : outputs() * directions;
  }
  std::size_t projection() const { return outputs() == hidden() ? 0 : outputs() * hidden(); }
  std::size_t matrices(std::size_t layer) const {
    return gates() * hidden() * (inputs(layer) + outputs()) + projection();
  }
  std::size_t matrices_before(std::size_t layer) const {
    std::size_t elements = 0;
    for (std::size_t i = 0; i < layer; ++i) elements += matrices(i);
    return elements;
  }
  MatrixPlace matrix(std::size_t layer, std::size_t id) const {
    const std::size_t first = matrices_before(layer);
    const std::size_t recurrent = first + gates() * hidden() * inputs(layer);
    if (id < gates()) return {hidden(), inputs(layer), first + id * hidden() * inputs(layer)};
    if (id < 2 * gates()) {
      return {hidden(), outputs(), recurrent + (id - gates()) * hidden() * outputs()};
    }
    return {outputs(), hidden(), recurrent + gates() * hidden() * outputs()};
  }
  std::size_t biases() const { return static_cast<std::size_t>(rnn.biases) * gates() * hidden(); }

  const RnnDescriptor& rnn;
};

TensorDescriptor matrix(int data_type, std::size_t rows, std::size_t columns) {
  const int m = static_cast<int>(rows);
  const int n = static_cast<int>(columns);
  return {data_type, 3, {1, m, n}, {m * n, n, 1}};
}

ohm::RecurrentNetwork network_of(const RnnDescriptor& rnn) {
  const auto count = [](int number) { return static_cast<std::size_t>(number); };
  const bool is_projected = rnn.projection_size != rnn.hidden_size;
  return {count(rnn.gates),
          count(rnn.layers),
          count(rnn.directions),
          count(rnn.hidden_size),
          is_projected ? count(rnn.projection_size) : 0,
          tensor_element_bytes(rnn.data_type),
          rnn.dropout > 0.0F};
}

void give(TensorDescriptor* descriptor, void** place, const TensorDescriptor& tensor, void* at) {
  if (descriptor != nullptr) *descriptor = tensor;
  if (place != nullptr) *place = at;
}

}  // namespace

OHM_EXPORTED int cudnnSetRNNDescriptor_v8(RnnDescriptor* rnn, int /*algorithm*/, int cell, int bias,
                                          int direction, int /*input_mode*/, int data_type,
                                          int /*math_precision*/, int /*math_type*/, int input_size,
                                          int hidden_size, int projection_size, int layers,
                                          const DropoutDescriptor* dropout, unsigned /*flags*/) {
  OHM_LIBRARY_CALL(int);
  *rnn = {gates_of(cell),  biases_of(bias), direction + 1,
          data_type,       input_size,      hidden_size,
          projection_size, layers,          dropout == nullptr ? 0.0F : dropout->probability};
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetRNNWeightSpaceSize(void* /*handle*/, const RnnDescriptor* rnn,
                                            std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  const WeightLayout layout(*rnn);
  const std::size_t elements =
      layout.matrices_before(layout.pseudo_layers()) + layout.pseudo_layers() * layout.biases();
  *bytes = elements * tensor_element_bytes(rnn->data_type);
  return kLibrarySuccess;
}

/// `matrix_id`: the gates' input matrices, the recurrent ones, and the projection.
OHM_EXPORTED int cudnnGetRNNWeightParams(void* /*handle*/, const RnnDescriptor* rnn,
                                         int pseudo_layer, std::size_t /*space_bytes*/,
                                         std::byte* space, int matrix_id,
                                         TensorDescriptor* matrix_descriptor, void** matrix_place,
                                         TensorDescriptor* bias_descriptor, void** bias_place) {
  OHM_LIBRARY_CALL(int);
  const WeightLayout layout(*rnn);
  const auto layer = static_cast<std::size_t>(pseudo_layer);
  const auto id = static_cast<std::size_t>(matrix_id);
  const MatrixPlace place = layout.matrix(layer, id);
  const std::size_t bytes = tensor_element_bytes(rnn->data_type);
  give(matrix_descriptor, matrix_place, matrix(rnn->data_type, place.rows, place.columns),
       space + place.first * bytes);
  const bool has_bias =
      (rnn->biases == 2 && id < 2 * layout.gates()) || (rnn->biases == 1 && id < layout.gates());
  if (!has_bias) {
    give(bias_descriptor, bias_place, {rnn->data_type, 0, {}, {}}, nullptr);
    return kLibrarySuccess;
  }
  const std::size_t bias = layout.matrices_before(layout.pseudo_layers()) +
                           layer * layout.biases() + id * layout.hidden();
  give(bias_descriptor, bias_place, matrix(rnn->data_type, layout.hidden(), 1),
       space + bias * bytes);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnSetDropoutDescriptor(DropoutDescriptor* dropout, void* /*handle*/,
                                           float probability, void* states,
                                           std::size_t /*state_bytes*/, unsigned long long seed) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(dropout)) return kCudnnBadParameter;
  *dropout = {probability, states, seed};
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetDropoutDescriptor(const DropoutDescriptor* dropout, void* /*handle*/,
                                           float* probability, void** states,
                                           unsigned long long* seed) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(dropout)) return kCudnnBadParameter;
  tell(dropout->probability, probability);
  tell(dropout->states, states);
  tell(dropout->seed, seed);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnRestoreDropoutDescriptor(DropoutDescriptor* dropout, void* handle,
                                               float probability, void* states,
                                               std::size_t state_bytes, unsigned long long seed) {
  OHM_LIBRARY_CALL(int);
  return cudnnSetDropoutDescriptor(dropout, handle, probability, states, state_bytes, seed);
}

OHM_EXPORTED int cudnnDropoutGetStatesSize(void* /*handle*/, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  const ohm::GpuProfile& gpu = gpus().profile();
  *bytes = gpu.has_measured_cudnn
               ? ohm::dropout_state_bytes(static_cast<std::size_t>(gpu.multiprocessors),
                                          static_cast<std::size_t>(gpu.threads_per_multiprocessor))
               : ohm::kAssumedDropoutStateBytes;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnSetRNNDataDescriptor(RnnDataDescriptor* data, int /*data_type*/,
                                           int /*layout*/, int /*most_steps*/, int batch,
                                           int /*vector_size*/, const int* steps,
                                           void* /*padding*/) {
  OHM_LIBRARY_CALL(int);
  data->rows = static_cast<std::size_t>(std::accumulate(steps, steps + batch, 0));
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetRNNTempSpaceSizes(void* /*handle*/, const RnnDescriptor* rnn, int mode,
                                           const RnnDataDescriptor* data, std::size_t* workspace,
                                           std::size_t* reserve) {
  OHM_LIBRARY_CALL(int);
  constexpr int kTraining = 1;
  note_assumption(Assumption::cudnn_rnn_reserve);
  if (workspace != nullptr) *workspace = 0;
  if (reserve == nullptr) return kLibrarySuccess;
  const bool is_kept = mode == kTraining && gpus().profile().has_recurrent_reserve;
  *reserve = is_kept ? ohm::recurrent_reserve_bytes(network_of(*rnn), data->rows) : 0;
  return kLibrarySuccess;
}
