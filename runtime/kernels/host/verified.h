// The parameters that a kernel is compared with its twin with: those of its row in the list.
#pragma once

namespace ohm::ops::kernels {

/// The one formula with the parameters of its row.
template <class Formula>
struct Verified {
  template <class... Parameters>
  static const Formula* with(Parameters... parameters) {
    static const Formula formula{parameters...};
    return &formula;
  }
};

}  // namespace ohm::ops::kernels
