// The out-of-memory error: expected, typed, and complete. No caller matches strings to find out.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/observe/category.h"
#include "allocator_shim/observe/site.h"

namespace ohm {

/// All that is known about a request that failed. Plain data.
struct OutOfMemoryReport {
  int device = 0;                   ///< index of the GPU; -1 for host memory
  std::size_t requested_bytes = 0;  ///< as the caller asked
  std::size_t segment_bytes = 0;    ///< what was asked of the device ("Tried to allocate")
  std::size_t capacity_bytes = 0;   ///< of the device
  std::size_t free_bytes = 0;       ///< on the device, after the cache was flushed
  std::size_t allocated_bytes = 0;
  std::size_t reserved_bytes = 0;
  std::size_t private_cached_bytes = 0;  ///< of reserved_bytes: cached in private pools
  Category category = Category::other;   ///< of the request
  SiteId site = kUnknownSite;            ///< of the request
  bool injected = false;                 ///< refused by a fault policy, not by the device
  std::string policy;                    ///< the policy that refused it, when injected
  std::string message;                   ///< PyTorch's sentence, character by character
};

class OutOfMemory : public std::runtime_error {
 public:
  explicit OutOfMemory(OutOfMemoryReport report)
      : std::runtime_error(report.message), report_(std::move(report)) {}

  const OutOfMemoryReport& report() const { return report_; }

  /// Keeps `object` alive for as long as the error is: what a Python traceback does with the
  /// variables of the frames that the error has left.
  void hold(std::shared_ptr<const void> object) { held_.push_back(std::move(object)); }

 private:
  OutOfMemoryReport report_;
  std::vector<std::shared_ptr<const void>> held_;
};

}  // namespace ohm
