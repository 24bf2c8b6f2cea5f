#include "harness/exec/call_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/entry_point_names.h"

namespace ohm::engine {

namespace {

using interpose::CallLibrary;
using interpose::EntryPointName;

const EntryPointName& entry_point(std::string_view name) {
  const auto* const found =
      std::find_if(interpose::kEntryPointNames.begin(), interpose::kEntryPointNames.end(),
                   [&](const EntryPointName& row) { return row.name == name; });
  if (found != interpose::kEntryPointNames.end()) return *found;
  std::vector<std::string> known;
  for (const EntryPointName& row : interpose::kEntryPointNames) known.emplace_back(row.name);
  throw std::invalid_argument(fmt::format("[fault] call({}): CUDA has no such function{}", name,
                                          did_you_mean(name, known)));
}

bool knows(CallLibrary library, FaultError error) {
  if (error == FaultError::not_ready) return library == CallLibrary::cuda;
  if (error == FaultError::remote_error || error == FaultError::system_error) {
    return library == CallLibrary::nccl;
  }
  return true;
}

}  // namespace

void check_call_faults(const FaultPlan& plan) {
  for (const FaultPlan::NamedCall& call : plan.named_calls()) {
    const EntryPointName& row = entry_point(call.name);
    const CallLibrary library = interpose::library_of_call(call.name);
    if (library == CallLibrary::none || row.is_infallible) {
      throw std::invalid_argument(
          fmt::format("[fault] call({}): calls of this function cannot fail by a plan", call.name));
    }
    if (!knows(library, call.error)) {
      throw std::invalid_argument(fmt::format("[fault] call({}) -> error({}): {} has no such error",
                                              call.name, row_of(call.error).name, row.library));
    }
  }
}

}  // namespace ohm::engine
