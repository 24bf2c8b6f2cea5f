#include "harness/exec/call_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "allocator_shim/interpose/entry_point_names.h"

namespace ohm::engine {

namespace {

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

/// Libraries with codes of their own for errors of the GPU.
bool can_fail(std::string_view library) {
  constexpr std::array<std::string_view, 10> kLibraries = {"cudart",   "cuda",    "nccl",  "cublas",
                                                           "cublasLt", "cudnn",   "cufft", "curand",
                                                           "cusolver", "cusparse"};
  return std::find(kLibraries.begin(), kLibraries.end(), library) != kLibraries.end();
}

bool knows(std::string_view library, FaultError error) {
  const bool is_cuda = library == "cudart" || library == "cuda";
  if (error == FaultError::not_ready) return is_cuda;
  if (error == FaultError::remote_error || error == FaultError::system_error) {
    return library == "nccl";
  }
  return true;
}

}  // namespace

void check_call_faults(const FaultPlan& plan) {
  for (const FaultPlan::NamedCall& call : plan.named_calls()) {
    const EntryPointName& row = entry_point(call.name);
    if (!can_fail(row.library) || row.is_infallible) {
      throw std::invalid_argument(
          fmt::format("[fault] call({}): calls of this function cannot fail by a plan", call.name));
    }
    if (!knows(row.library, call.error)) {
      throw std::invalid_argument(fmt::format("[fault] call({}) -> error({}): {} has no such error",
                                              call.name, row_of(call.error).name, row.library));
    }
  }
}

}  // namespace ohm::engine
