#include "harness/verify/gpu_profile_file.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/base/whole_file.h"
#include "harness/verify/nvidia_smi_text.h"
#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using Json = nlohmann::ordered_json;

class ProfileReader {
 public:
  ProfileReader(const std::string& path, const Json& json) : path_(path), json_(json) {}

  GpuProfile read() const {
    GpuProfile profile;
    profile.name = path_;
    profile.capacity_bytes = bytes("capacity_bytes");
    profile.capacity_is_exact = true;
    profile.context_bytes = bytes("context_bytes");
    profile.compute_capability = compute_capability();
    profile.multiprocessors = count("multiprocessors");
    profile.threads_per_multiprocessor = count("threads_per_multiprocessor");
    profile.cublas_workspace_bytes = bytes("cublas_workspace_bytes");
    profile.has_recurrent_reserve = true;
    profile.convolution_workspaces = convolution_workspaces();
    if (profile.context_bytes >= profile.capacity_bytes) {
      refuse(fmt::format("a context of {} leaves nothing of {}", human_bytes(profile.context_bytes),
                         human_bytes(profile.capacity_bytes)));
    }
    return profile;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::invalid_argument(fmt::format("[gpu] {}: {}", path_, why));
  }

  std::int64_t integer(const char* key, const Json& value, std::int64_t least,
                       std::int64_t most) const {
    const bool fits = value.is_number_integer() &&
                      value.get<double>() >= static_cast<double>(least) &&
                      value.get<double>() <= static_cast<double>(most);
    if (fits) return value.get<std::int64_t>();
    refuse(fmt::format("{} must be an integer from {} to {}", key, least, most));
  }

  const Json& field(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(fmt::format("{} is missing", key));
    return *found;
  }

  std::size_t bytes(const char* key) const { return bytes(key, field(key)); }
  std::size_t bytes(const char* key, const Json& value) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 48U;
    return static_cast<std::size_t>(integer(key, value, 0, kMost));
  }

  std::map<std::string, std::size_t> convolution_workspaces() const {
    constexpr const char* kKey = "convolution_workspaces";
    std::map<std::string, std::size_t> all;
    const auto found = json_.find(kKey);
    if (found == json_.end()) return all;
    if (!found->is_array()) refuse(fmt::format("{} must be a list", kKey));
    for (const Json& one : *found) {
      const bool is_one = one.is_object() && one.contains("convolution") &&
                          one["convolution"].is_string() && one.contains("bytes");
      if (!is_one) refuse(fmt::format("{} must have a convolution and bytes in each", kKey));
      all[one["convolution"].get<std::string>()] = bytes(kKey, one["bytes"]);
    }
    return all;
  }

  int count(const char* key) const {
    constexpr std::int64_t kMost = 1'000'000;
    return static_cast<int>(integer(key, field(key), 1, kMost));
  }

  std::array<int, 2> compute_capability() const {
    constexpr const char* kKey = "compute_capability";
    constexpr std::int64_t kMost = 1000;
    const Json& pair = field(kKey);
    if (!pair.is_array() || pair.size() != 2) refuse("compute_capability must be two integers");
    return {static_cast<int>(integer(kKey, pair[0], 0, kMost)),
            static_cast<int>(integer(kKey, pair[1], 0, kMost))};
  }

  const std::string& path_;
  const Json& json_;
};

}  // namespace

std::string gpu_profile_json(const FoundCudaDevices& found, const CardVerification& table) {
  const cuda::CudaDeviceProperties& device = found.devices.front();
  Json profile = {{"name", device.name},
                  {"capacity_bytes", device.total_bytes},
                  {"context_bytes", found.context_bytes.front()},
                  {"compute_capability", device.compute_capability},
                  {"multiprocessors", device.multiprocessors},
                  {"threads_per_multiprocessor", device.threads_per_multiprocessor},
                  {"cublas_workspace_bytes", cublas_workspace_bytes(device.compute_capability)},
                  {"driver", cuda::version_text(found.driver_version)},
                  {"library_workspaces", Json::array()},
                  {"convolution_workspaces", Json::array()}};
  for (const ConvolutionWorkspace& one : CardVerification::convolution_workspaces(table)) {
    profile["convolution_workspaces"].push_back(
        {{"convolution", one.convolution}, {"bytes", one.bytes}});
  }
  for (const LibraryWorkspace& workspace : CardVerification::workspaces(table)) {
    profile["library_workspaces"].push_back({{"op", workspace.op},
                                             {"largest_bytes", workspace.largest_bytes},
                                             {"calls", workspace.calls}});
  }
  return reports::json_document(profile);
}

GpuSelection read_gpu_file(const std::string& path) {
  std::string text;
  try {
    text = read_whole_file(path);
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(fmt::format("[gpu] {}: {}", path, error.what()));
  }
  if (is_nvidia_smi_text(text)) return read_nvidia_smi_text(path, text);
  const Json json = reports::json_or_discarded(text);
  if (!json.is_object()) {
    throw std::invalid_argument(fmt::format(
        "[gpu] {}: not a JSON object (ohm verify-device --write-profile), nor the output of "
        "nvidia-smi -q",
        path));
  }
  GpuSelection selection;
  selection.profile = ProfileReader(path, json).read();
  selection.file = path;
  return selection;
}

}  // namespace ohm::engine
