#include "harness/verify/nvidia_smi_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/base/format_bytes.h"

namespace ohm::engine {

namespace {

constexpr std::string_view kHeadline = "==NVSMI LOG==";
constexpr std::string_view kGpuSection = "GPU ";

struct Line {
  int number = 0;  ///< from 1
  std::size_t indent = 0;
  std::string_view key;
  std::string_view value;  ///< empty: a section
};

/// Figures in MiB, as printed.
struct Memory {
  int line = 0;  ///< of the section
  std::optional<std::size_t> total;
  std::size_t reserved = 0;  ///< drivers before 510 have left it out of the total
};

struct MigDevice {
  int line = 0;
  int multiprocessors = 0;
  Memory memory;
};

struct Gpu {
  int line = 0;
  std::string product;
  Memory memory;
  std::vector<MigDevice> mig_devices;
  bool is_mig_enabled = false;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view raw = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (trimmed(raw).empty()) continue;
    // An address has colons, too: only one between blanks ends a key.
    const std::size_t colon = raw.find(" : ");
    Line line;
    line.number = number;
    line.indent = raw.find_first_not_of(" \t");
    line.key = trimmed(raw.substr(0, colon));
    if (colon != std::string_view::npos) line.value = trimmed(raw.substr(colon + 3));
    lines.push_back(line);
  }
  return lines;
}

class Reader {
 public:
  Reader(const std::string& path, std::string_view text) : path_(path), lines_(lines_of(text)) {}

  std::vector<Gpu> gpus() {
    std::vector<Gpu> all;
    while (position_ < lines_.size()) {
      const Line& line = lines_[position_++];
      if (line.indent == 0 && line.value.empty() && line.key.starts_with(kGpuSection)) {
        all.push_back(gpu(line));
      }
    }
    if (all.empty()) refuse("it has no section for a GPU; write it with: nvidia-smi -q");
    return all;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::invalid_argument(fmt::format("[gpu] {}: {}", path_, why));
  }
  [[noreturn]] void refuse_at(int line, const std::string& why) const {
    throw std::invalid_argument(fmt::format("[gpu] {}:{}: {}", path_, line, why));
  }

  /// The next line within a section that began at `indent`; nullptr: it ends.
  const Line* next_within(std::size_t indent) {
    if (position_ == lines_.size() || lines_[position_].indent <= indent) return nullptr;
    return &lines_[position_++];
  }

  Gpu gpu(const Line& section) {
    Gpu gpu;
    gpu.line = section.number;
    while (const Line* line = next_within(section.indent)) {
      if (line->key == "Product Name") gpu.product = line->value;
      if (line->key == "FB Memory Usage") gpu.memory = memory(*line);
      if (line->key == "MIG Mode") gpu.is_mig_enabled = is_enabled(*line);
      if (line->key == "MIG Device") gpu.mig_devices.push_back(mig_device(*line));
    }
    if (gpu.product.empty()) refuse_at(gpu.line, "this GPU has no Product Name");
    const bool shares_memory = gpu.is_mig_enabled || !gpu.mig_devices.empty();
    if (!shares_memory && !gpu.memory.total) {
      refuse_at(gpu.line, "this GPU has no FB Memory Usage with a Total");
    }
    return gpu;
  }

  bool is_enabled(const Line& section) {
    bool is_enabled = false;
    while (const Line* line = next_within(section.indent)) {
      if (line->key == "Current") is_enabled = line->value == "Enabled";
    }
    return is_enabled;
  }

  MigDevice mig_device(const Line& section) {
    MigDevice device;
    device.line = section.number;
    while (const Line* line = next_within(section.indent)) {
      if (line->key == "Multiprocessor count") {
        device.multiprocessors = static_cast<int>(number(*line, line->value, "a number"));
      }
      if (line->key == "Shared FB Memory Usage" || line->key == "FB Memory Usage") {
        device.memory = memory(*line);
      }
    }
    if (!device.memory.total) {
      refuse_at(device.line, "this MIG device has no FB Memory Usage with a Total");
    }
    if (device.multiprocessors == 0) {
      refuse_at(device.line, "this MIG device has no Multiprocessor count");
    }
    return device;
  }

  Memory memory(const Line& section) {
    Memory memory;
    memory.line = section.number;
    while (const Line* line = next_within(section.indent)) {
      if (line->key == "Total") memory.total = mebibytes(*line);
      if (line->key == "Reserved") memory.reserved = mebibytes(*line);
    }
    if (memory.total && *memory.total <= memory.reserved) {
      refuse_at(memory.line, "nothing of the Total is left beside what is Reserved");
    }
    return memory;
  }

  std::size_t mebibytes(const Line& line) const {
    constexpr std::string_view kUnit = " MiB";
    constexpr const char* kWhat = "a size in MiB";
    if (!line.value.ends_with(kUnit)) refuse_value(line, kWhat);
    return number(line, line.value.substr(0, line.value.size() - kUnit.size()), kWhat);
  }

  /// `what`: is expected there.
  std::size_t number(const Line& line, std::string_view digits, const char* what) const {
    constexpr std::size_t kMost = std::size_t{1} << 28U;
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size();
    if (!is_number || value > kMost) refuse_value(line, what);
    return value;
  }

  [[noreturn]] void refuse_value(const Line& line, const char* what) const {
    refuse_at(line.number, fmt::format("{}: expected {}, not \"{}\"", line.key, what, line.value));
  }

  const std::string& path_;
  std::vector<Line> lines_;
  std::size_t position_ = 0;
};

/// A GPU or a MIG device, as a program sees it.
struct Device {
  int line = 0;
  std::string product;
  std::size_t capacity_bytes = 0;
  int multiprocessors = 0;  ///< 0: those of the product
};

std::vector<Device> devices_of(const std::string& path, const std::vector<Gpu>& gpus) {
  const auto capacity = [](const Memory& memory) {
    return (*memory.total - memory.reserved) * std::size_t{1_MiB};
  };
  std::vector<Device> devices;
  for (const Gpu& gpu : gpus) {
    if (gpu.is_mig_enabled && gpu.mig_devices.empty()) {
      throw std::invalid_argument(fmt::format(
          "[gpu] {}:{}: MIG is enabled, and there is no MIG device that a program could use; "
          "nvidia-smi mig -cgi makes some",
          path, gpu.line));
    }
    for (const MigDevice& mig : gpu.mig_devices) {
      devices.push_back({mig.line, gpu.product, capacity(mig.memory), mig.multiprocessors});
    }
    if (gpu.mig_devices.empty()) {
      devices.push_back({gpu.line, gpu.product, capacity(gpu.memory), 0});
    }
  }
  return devices;
}

std::string described(const Device& device) {
  const std::string text =
      fmt::format("{} of {}", device.product, human_bytes(device.capacity_bytes));
  if (device.multiprocessors == 0) return text;
  return fmt::format("a MIG device of {} with {} multiprocessors", text, device.multiprocessors);
}

void check_alike(const std::string& path, const std::vector<Device>& devices) {
  const Device& first = devices.front();
  for (const Device& other : devices) {
    const bool is_alike = other.product == first.product &&
                          other.capacity_bytes == first.capacity_bytes &&
                          other.multiprocessors == first.multiprocessors;
    if (is_alike) continue;
    throw std::invalid_argument(fmt::format(
        "[gpu] {}:{}: {} is not like {} in line {}, and the GPUs of a selection are of one kind; "
        "{}",
        path, other.line, described(other), described(first), first.line,
        other.multiprocessors == 0 ? "nvidia-smi -q -i 0 prints one GPU"
                                   : "keep the MIG Device section that the program gets"));
  }
}

/// Drivers before 470 print it without the vendor.
std::string_view without_vendor(std::string_view product) {
  constexpr std::string_view kVendor = "NVIDIA ";
  return product.starts_with(kVendor) ? product.substr(kVendor.size()) : product;
}

/// Of a MIG device the one with as many multiprocessors and as much memory, if it is in the table.
const GpuProfile* slice_of_product(const Device& device) {
  const std::string prefix = fmt::format("{} MIG ", without_vendor(device.product));
  for (const GpuProfile& profile : gpu_profiles()) {
    const bool is_alike = profile.multiprocessors == device.multiprocessors &&
                          profile.capacity_bytes == device.capacity_bytes;
    if (is_alike && without_vendor(profile.product).starts_with(prefix)) return &profile;
  }
  return nullptr;
}

const GpuProfile& profile_of(const std::string& path, const Device& device) {
  if (const GpuProfile* const slice = slice_of_product(device)) return *slice;
  for (const GpuProfile& profile : gpu_profiles()) {
    if (without_vendor(profile.product) == without_vendor(device.product)) return profile;
  }
  throw std::invalid_argument(fmt::format(
      "[gpu] {}:{}: \"{}\" is not in the table of ohm gpus, and nvidia-smi does not print its "
      "compute capability; use the nearest card with this memory: --gpu NAME,capacity={}",
      path, device.line, device.product, device.capacity_bytes));
}

}  // namespace

bool is_nvidia_smi_text(std::string_view text) {
  if (text.find(kHeadline) != std::string_view::npos) return true;
  const std::size_t section = text.find("\nGPU ");
  return text.starts_with(kGpuSection) || section != std::string_view::npos;
}

GpuSelection read_nvidia_smi_text(const std::string& path, std::string_view text) {
  const std::vector<Device> devices = devices_of(path, Reader(path, text).gpus());
  check_alike(path, devices);
  if (devices.size() > kMaxGpuCount) {
    throw std::invalid_argument(
        fmt::format("[gpu] {}: it has {} GPUs, more than {}", path, devices.size(), kMaxGpuCount));
  }
  const Device& first = devices.front();
  GpuSelection selection;
  selection.profile = profile_of(path, first);
  if (selection.profile.context_bytes >= first.capacity_bytes) {
    throw std::invalid_argument(fmt::format(
        "[gpu] {}:{}: {} of memory leave nothing beside the context of {}, which takes {}", path,
        first.line, human_bytes(first.capacity_bytes), selection.profile.name,
        human_bytes(selection.profile.context_bytes)));
  }
  selection.profile.capacity_bytes = first.capacity_bytes;
  // A program gets one MIG device.
  if (first.multiprocessors != 0) {
    selection.profile.multiprocessors = first.multiprocessors;
  } else if (devices.size() > 1) {
    selection.count = static_cast<int>(devices.size());
  }
  return selection;
}

}  // namespace ohm::engine
