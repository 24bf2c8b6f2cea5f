#include "allocator_shim/observe/gpu_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "allocator_shim/base/nearest_name.h"

namespace ohm {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;

/// As NVML's figures are printed: whole MiB.
std::size_t mebibytes(std::size_t bytes) { return bytes / kMebibyte; }

struct Field {
  std::string_view name;
  std::string_view unit;  ///< empty: none
  std::string (*value)(const MonitoredGpu& gpu);
};

constexpr std::array<Field, 6> kFields = {{
    {"index", "", [](const MonitoredGpu& gpu) { return std::to_string(gpu.index); }},
    {"name", "", [](const MonitoredGpu& gpu) { return gpu.name; }},
    {"memory.used", "MiB",
     [](const MonitoredGpu& gpu) { return std::to_string(mebibytes(gpu.used_bytes)); }},
    {"memory.free", "MiB",
     [](const MonitoredGpu& gpu) {
       return std::to_string(mebibytes(gpu.total_bytes) - mebibytes(gpu.used_bytes));
     }},
    {"memory.total", "MiB",
     [](const MonitoredGpu& gpu) { return std::to_string(mebibytes(gpu.total_bytes)); }},
    {"utilization.gpu", "%",
     [](const MonitoredGpu& gpu) { return std::to_string(gpu.utilization_percent); }},
}};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

const Field& find_field(const std::string& name) {
  std::vector<std::string> known;
  for (const Field& field : kFields) {
    if (field.name == name) return field;
    known.emplace_back(field.name);
  }
  throw std::invalid_argument(
      fmt::format("[smi] there is no field \"{}\"{}", name, did_you_mean(name, known)));
}

struct Format {
  bool header = true;
  bool units = true;
};

Format parse_format(std::string_view text) {
  const std::vector<std::string> words = split(text);
  const std::vector<std::string> known = {"csv", "noheader", "nounits"};
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    throw std::invalid_argument(
        fmt::format("[smi] there is no format \"{}\"{}", word, did_you_mean(word, known)));
  }
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  return {!has("noheader"), !has("nounits")};
}

}  // namespace

std::string smi_table(std::span<const MonitoredGpu> gpus) {
  const std::string rule = fmt::format("+{:-<31}+{:-<26}+{:-<11}+\n", "", "", "");
  std::string out = rule;
  out += fmt::format("| {:<29} | {:>24} | {:>9} |\n", "GPU  Name", "Memory-Usage", "GPU-Util");
  out += fmt::format("|{:=<31}+{:=<26}+{:=<11}|\n", "", "", "");
  for (const MonitoredGpu& gpu : gpus) {
    const std::string usage =
        fmt::format("{}MiB / {}MiB", mebibytes(gpu.used_bytes), mebibytes(gpu.total_bytes));
    out += fmt::format("| {:>3}  {:<24} | {:>24} | {:>8}% |\n", gpu.index, gpu.name, usage,
                       gpu.utilization_percent);
  }
  return out + rule;
}

std::string smi_query(std::span<const MonitoredGpu> gpus, std::string_view fields,
                      std::string_view format) {
  const Format how = parse_format(format);
  std::vector<const Field*> columns;
  for (const std::string& name : split(fields)) columns.push_back(&find_field(name));
  std::string out;
  const auto add_line = [&](auto&& cell) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      out += (i == 0 ? "" : ", ") + cell(*columns[i]);
    }
    out += '\n';
  };
  if (how.header) {
    add_line([](const Field& field) {
      return field.unit.empty() ? std::string(field.name)
                                : fmt::format("{} [{}]", field.name, field.unit);
    });
  }
  for (const MonitoredGpu& gpu : gpus) {
    add_line([&](const Field& field) {
      const bool has_unit = how.units && !field.unit.empty();
      return field.value(gpu) + (has_unit ? fmt::format(" {}", field.unit) : "");
    });
  }
  return out;
}

std::string utilization_table(std::span<const MonitoredGpu> gpus) {
  constexpr std::string_view kHeader = "| ID | GPU | MEM |";
  std::string out = fmt::format("{}\n{:-<{}}\n", kHeader, "", kHeader.size());
  for (const MonitoredGpu& gpu : gpus) {
    const double share = static_cast<double>(mebibytes(gpu.used_bytes)) /
                         static_cast<double>(std::max(mebibytes(gpu.total_bytes), std::size_t{1}));
    out += fmt::format("| {:>2} | {:>2.0f}% | {:>2.0f}% |\n", gpu.index,
                       static_cast<double>(gpu.utilization_percent), 100 * share);
  }
  return out;
}

}  // namespace ohm
