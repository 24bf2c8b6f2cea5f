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

// What the message ends with.
std::string advice(const RuleSet& rules, bool is_expandable) {
  if (is_expandable && rules.advises_on_reserved_addresses) {
    return fmt::format(
        " expandable_segments is enabled. If instead the process is running out of virtual address "
        "space (VSZ), expandable segments may be over-reserving VA (each segment reserves ~9/8 of "
        "device memory, times the number of streams); reduce it via {} expandable_segments_reserve "
        "/ expandable_segments_reserve_by_class.",
        rules.settings_variable);
  }
  return fmt::format(
      " If reserved but unallocated memory is large try setting {}=expandable_segments:True to "
      "avoid fragmentation.  See documentation for Memory Management  ({})",
      rules.settings_variable, rules.settings_page);
}

}  // namespace

std::string out_of_memory_message(const OutOfMemoryReport& report,
                                  std::optional<std::size_t> allowed_bytes,
                                  const std::vector<DeviceProcess>& processes, const RuleSet& rules,
                                  bool is_expandable) {
  std::string message = fmt::format(
      "CUDA out of memory. Tried to allocate {}. GPU {} has a total capacity of {} of which {} is "
      "free. ",
      pytorch_bytes(report.segment_bytes), report.device, pytorch_bytes(report.capacity_bytes),
      pytorch_bytes(report.free_bytes));
  for (const DeviceProcess& process : processes) message += process_clause(process);
  if (allowed_bytes) message += fmt::format("{} allowed; ", pytorch_bytes(*allowed_bytes));
  // What is cached in private pools serves nothing else: PyTorch counts it as allocated.
  const std::size_t held_bytes = report.allocated_bytes + report.private_cached_bytes;
  message += fmt::format("Of the allocated memory {} is allocated by PyTorch, ",
                         pytorch_bytes(held_bytes));
  if (report.private_cached_bytes > 0) {
    message += fmt::format("with {} allocated in private pools (e.g., CUDA Graphs), ",
                           pytorch_bytes(report.private_cached_bytes));
  }
  message += fmt::format("and {} is reserved by PyTorch but unallocated.",
                         pytorch_bytes(report.reserved_bytes - held_bytes));
  return message + advice(rules, is_expandable);
}

}  // namespace ohm
