// The output of monitoring tools: nvidia-smi, and GPUtil for Python.
//
// They see a device from outside: contexts and segments, cached ones included, and nothing of what
// a program has allocated in them. Virtual GPUs compute nothing that takes time: their load is 0.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ohm {

/// One GPU from outside.
struct MonitoredGpu {
  int index = 0;
  std::string name;
  std::size_t used_bytes = 0;  ///< of all processes
  std::size_t total_bytes = 0;
  int utilization_percent = 0;
};

/// A table in nvidia-smi's style, with a line break at its end.
std::string smi_table(std::span<const MonitoredGpu> gpus);

/// What `nvidia-smi --query-gpu=<fields> --format=<format>` prints: fields of "index", "name",
/// "memory.used", "memory.free", "memory.total", "utilization.gpu", separated by commas; format
/// "csv", and any of "noheader" and "nounits". Throws std::invalid_argument for others.
std::string smi_query(std::span<const MonitoredGpu> gpus, std::string_view fields,
                      std::string_view format);

/// What GPUtil.showUtilization() prints: `| ID | GPU | MEM |`, in per cent.
std::string utilization_table(std::span<const MonitoredGpu> gpus);

}  // namespace ohm
