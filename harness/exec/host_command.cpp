#include "harness/exec/host_command.h"

#include <fmt/format.h>

#include <stdexcept>

#include "allocator_shim/interpose/host/host_fault.h"
#include "allocator_shim/interpose/host/host_settings.h"
#include "harness/exec/preloading.h"

namespace ohm::engine {

void check_host_fault(const std::string& plan) {
  interpose::host::HostFault fault;
  if (interpose::host::parse_host_fault(plan, fault)) return;
  throw std::invalid_argument(fmt::format(
      "\"{}\" is not a plan for host memory: nth(N), from(N), burst(N,COUNT), every(N), "
      "persistent(nth(N)), and size(>=BYTES), joined by &; or ohm:HEX@K",
      plan));
}

ChildCommand host_command(const std::vector<std::string>& words, const HostOptions& options) {
  check_host_fault(options.fault);
  ChildCommand command =
      preloaded_command(words, {shipped_file(OHM_BUILT_HOST_LIBRARY, OHM_INSTALLED_HOST_LIBRARY)},
                        PreloadOrder::first);
  if (options.limit_bytes) {
    command.environment.emplace_back(interpose::host::kLimitVariable,
                                     fmt::to_string(*options.limit_bytes));
  }
  if (!options.fault.empty()) {
    command.environment.emplace_back(interpose::host::kFaultVariable, options.fault);
    // As in the sweep that the plan may be of.
    command.has_fixed_addresses = true;
  }
  return command;
}

void add_host_record(ChildCommand& command, const std::string& folder) {
  command.environment.emplace_back(interpose::host::kRecordVariable, folder);
}

}  // namespace ohm::engine
