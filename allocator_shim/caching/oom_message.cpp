#include "allocator_shim/caching/oom_message.h"

#include <fmt/format.h>

#include "allocator_shim/base/format_bytes.h"

namespace ohm {
namespace {

std::string process_clause(const DeviceProcess& process) {
  const std::string bytes = pytorch_bytes(process.bytes);
  if (process.is_own) {
    return fmt::format("Including non-PyTorch memory, this process has {} memory in use. ", bytes);
  }
  return fmt::format("Process {} has {} memory in use. ", process.id, bytes);
}

}  // namespace

std::string out_of_memory_message(const OutOfMemoryReport& report,
                                  std::optional<std::size_t> allowed_bytes,
                                  const std::vector<DeviceProcess>& processes,
                                  const RuleSet& rules) {
  std::string message = fmt::format(
      "CUDA out of memory. Tried to allocate {}. GPU {} has a total capacity of {} of which {} is "
      "free. ",
      pytorch_bytes(report.segment_bytes), report.device, pytorch_bytes(report.capacity_bytes),
      pytorch_bytes(report.free_bytes));
  for (const DeviceProcess& process : processes) message += process_clause(process);
  if (allowed_bytes) message += fmt::format("{} allowed; ", pytorch_bytes(*allowed_bytes));
  message += fmt::format(
      "Of the allocated memory {} is allocated by PyTorch, and {} is reserved by PyTorch but "
      "unallocated. If reserved but unallocated memory is large try setting "
      "{}=expandable_segments:True to avoid fragmentation.  See documentation for Memory "
      "Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
      pytorch_bytes(report.allocated_bytes),
      pytorch_bytes(report.reserved_bytes - report.allocated_bytes), rules.settings_variable);
  return message;
}

}  // namespace ohm
