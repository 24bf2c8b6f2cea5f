// A tensor of three dims for the samples of ops that look at shapes alone.
#pragma once

#include <vector>

#include "runtime/arithmetic/factories.h"
#include "tests/support/op_samples/families.h"

namespace ohm::test {

/// One sample: random values of shape [2, 3, 4] in double on the host, and these further arguments.
inline std::vector<Sample> cube_and(const std::vector<ops::Value>& arguments) {
  Sample sample{randn({2, 3, 4}, {DType::float64, Device::cpu()})};
  sample.insert(sample.end(), arguments.begin(), arguments.end());
  return {sample};
}

}  // namespace ohm::test
