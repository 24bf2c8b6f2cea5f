// Runs that ask what if: of one program, and of what is changed of it, with every pair of settings
// and capacities.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/replay/what_if.h"
#include "harness/replay/replay_options.h"
#include "reports/model/memory_history.h"
#include "reports/model/replay_result.h"

namespace ohm::engine {

/// Something that can be run with other settings on another device.
struct Rerun {
  std::optional<int> device;
  AllocatorSettings settings;  ///< its own
  std::string change;          ///< of the program; empty: none
  std::size_t events = 0;
  std::function<WhatIfOutcome(const WhatIf&)> run;
  /// Who made a request, where that is recorded.
  std::function<HistorySite(std::size_t request)> site_of;
};

class WhatIfRuns {
 public:
  /// All outlive this; what is found goes into `result`, and where nothing fits its exit reason.
  WhatIfRuns(const ReplayOptions& options, const RuleSet& rules, ReplayResult& result)
      : options_(options), rules_(rules), result_(result) {}

  /// Of one device: the program, and how it is changed, if it is.
  void run(const std::vector<Rerun>& reruns);

 private:
  bool asks_what_if() const;
  std::vector<AllocatorSettings> settings_for(const Rerun& rerun) const;
  WhatIf what_if(const AllocatorSettings& settings, std::size_t capacity) const;
  void add_what_ifs(const std::vector<Rerun>& reruns);
  void add_min_capacity(const Rerun& rerun, const AllocatorSettings& settings);

  const ReplayOptions& options_;
  const RuleSet& rules_;
  ReplayResult& result_;
};

}  // namespace ohm::engine
