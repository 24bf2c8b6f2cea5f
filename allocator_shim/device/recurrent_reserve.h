// Memory that cuDNN's recurrent networks take of a card, as measured on an H100 and an H200 with
// cuDNN 9.19, and assumed of all others. Their workspaces fit no formula that is known, and are
// left out.
#pragma once

#include <cstddef>

#include "allocator_shim/device/gpu_profile.h"

namespace ohm {

struct RecurrentNetwork {
  std::size_t gates = 1;  ///< 1, of a GRU 3, of an LSTM 4
  std::size_t layers = 1;
  std::size_t directions = 1;
  std::size_t hidden_size = 1;
  std::size_t projection_size = 0;  ///< 0: nothing is projected
  std::size_t element_bytes = 4;
  bool has_dropout = false;
};

/// What training keeps for backward. `rows`: the batch sizes of all steps, added up.
std::size_t recurrent_reserve_bytes(const RecurrentNetwork& network, std::size_t rows);

/// The state of the generators that dropout draws with, one for each thread that fits the GPU.
constexpr std::size_t dropout_state_bytes(std::size_t multiprocessors, std::size_t threads) {
  constexpr std::size_t kGenerator = 24;
  return multiprocessors * threads * kGenerator;
}

/// The same where nothing was measured.
inline constexpr std::size_t kAssumedDropoutStateBytes = std::size_t{1} << 20U;

}  // namespace ohm
