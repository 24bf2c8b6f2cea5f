// What the tests of NVIDIA's libraries share: a card of the stand-in driver, tensors on it, and
// what a library says when it fails.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/cuda/library.h"
#include "tests/support/cuda_machine.h"

namespace ohm::test {

inline constexpr Device kCard = Device::cuda(0);
inline const std::string kOneDevice = "capacity=268435456";

inline Tensor on_card(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape, {DType::float32, kCard});
}
inline Tensor square() { return on_card({1, 2, 3, 4}, {2, 2}); }

inline std::string library_error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const cuda::LibraryError& error) {
    return error.what();
  }
  return "it did not fail";
}

}  // namespace ohm::test
