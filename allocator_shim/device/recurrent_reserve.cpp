#include "allocator_shim/device/recurrent_reserve.h"

namespace ohm {
namespace {

// Elements that a layer in one direction keeps of each row, in hidden sizes: its output among them,
// which the last layer does not keep.
std::size_t kept_of_layer(std::size_t gates) {
  constexpr std::size_t kGru = 3;
  constexpr std::size_t kLstm = 4;
  return gates == kLstm ? 6 : gates == kGru ? 7 : 2;
}

}  // namespace

std::size_t recurrent_reserve_bytes(const RecurrentNetwork& network, std::size_t rows) {
  constexpr std::size_t kHeader = 256;
  const std::size_t between = network.layers - 1;
  std::size_t elements = network.hidden_size;
  if (network.projection_size == 0) {
    elements *= kept_of_layer(network.gates) * network.layers - 1;
  } else {
    // What is projected is kept beside what is not.
    elements *= kept_of_layer(network.gates) * network.layers + between;
    elements += network.projection_size * network.layers;
  }
  const std::size_t of_direction = rows * network.directions;
  const std::size_t mask =
      network.has_dropout ? of_direction * network.hidden_size * between / 8 : 0;
  return kHeader + of_direction * elements * network.element_bytes + mask;
}

}  // namespace ohm
