// The parameters that a kernel is compared with its twin with: those of its row in the list.
#pragma once

namespace ohm::kernels {

/// The one functor with the parameters of its row.
template <class Functor>
struct Verified {
  template <class... Parameters>
  static const Functor* with(Parameters... parameters) {
    static const Functor functor{parameters...};
    return &functor;
  }
};

}  // namespace ohm::kernels
