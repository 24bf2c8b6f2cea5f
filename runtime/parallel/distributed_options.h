// The options of DistributedDataParallel.
#pragma once

#include <cstddef>
#include <optional>

#include "runtime/base/device.h"

namespace ohm::parallel {

struct DistributedOptions {
  /// Of a bucket. Not given: 25 MiB, and 1 MiB for the bucket that is full first.
  std::optional<std::size_t> bucket_cap_bytes = std::nullopt;
  /// Gradients are views of the buckets: the parameters' bytes once instead of twice.
  bool gradient_as_bucket_view = false;
  /// Parameters that an output does not depend on have no gradient, and the others do not wait for
  /// them. Costs a copy of the outputs in every forward pass.
  bool find_unused_parameters = false;
  /// Every pass uses the same parameters as often as the first one, which may be more than once.
  bool static_graph = false;
  /// Rank 0's buffers are everybody's before every forward pass.
  bool broadcast_buffers = true;
  /// Rank 0's parameters and buffers are everybody's at first.
  bool init_sync = true;
  /// Where inputs from the host are moved; not given: they stay.
  std::optional<Device> device = std::nullopt;
};

}  // namespace ohm::parallel
