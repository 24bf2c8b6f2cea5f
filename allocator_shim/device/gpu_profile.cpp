#include "allocator_shim/device/gpu_profile.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/base/nearest_name.h"

namespace ohm {
namespace {

constexpr std::size_t kWorkspace = 8'519'680;
constexpr std::size_t kHopperWorkspace = 33'554'432;

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void set_capacity(GpuSelection& selection, std::string_view value) {
  const std::size_t capacity = parse_bytes(value);
  const std::size_t context = selection.profile.context_bytes;
  if (capacity <= context) {
    throw std::invalid_argument(fmt::format(
        "[gpu] a capacity of {} leaves nothing beside the context of {}, which takes {}",
        human_bytes(capacity), selection.profile.name, human_bytes(context)));
  }
  selection.profile.capacity_bytes = capacity;
  selection.profile.capacity_is_exact = true;
}

void set_count(GpuSelection& selection, std::string_view value) {
  int count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  const bool is_number = error == std::errc() && end == value.data() + value.size();
  if (!is_number || count < 1 || count > kMaxGpuCount) {
    throw std::invalid_argument(
        fmt::format("[gpu] count must be 1 to {}: \"{}\"", kMaxGpuCount, value));
  }
  selection.count = count;
}

/// Lower case, without separators and what vendors put before a model.
std::string model_letters(std::string_view name) {
  std::string letters;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
  }
  for (const std::string_view prefix : {"nvidia", "geforce", "tesla", "rtx"}) {
    if (letters.starts_with(prefix) && letters.size() > prefix.size()) {
      letters.erase(0, prefix.size());
    }
  }
  return letters;
}

/// ` (did you mean "a100-40g" or "a100-80g"?)`: profiles of this model, or the nearest name;
/// nothing where the model is another one.
std::string similar_gpus(std::string_view name) {
  std::vector<std::string> known;
  std::vector<std::string> of_model;
  for (const GpuProfile& profile : gpu_profiles()) {
    known.emplace_back(profile.name);
    const std::string model = profile.name.substr(0, profile.name.find('-'));
    const bool is_slice = profile.name.find("-mig-") != std::string::npos;
    if (!is_slice && model_letters(model) == model_letters(name)) {
      of_model.push_back(fmt::format("\"{}\"", profile.name));
    }
  }
  if (!of_model.empty()) return fmt::format(" (did you mean {}?)", fmt::join(of_model, " or "));
  // An A10 is no A100, whose name only begins alike.
  const std::string nearest = nearest_name(name, known);
  const bool is_model = name.find('-') == std::string_view::npos;
  const bool is_other = is_model && nearest.starts_with(name) && nearest[name.size()] != '-';
  return nearest.empty() || is_other ? "; ohm gpus lists them" : did_you_mean(name, known);
}

struct SelectionKey {
  std::string_view name;
  void (*set)(GpuSelection&, std::string_view value);
};
constexpr std::array<SelectionKey, 2> kSelectionKeys = {
    {{"capacity", set_capacity}, {"count", set_count}}};

void apply(GpuSelection& selection, std::string_view part) {
  const std::size_t equals = part.find('=');
  const std::string_view key = part.substr(0, equals);
  std::vector<std::string> known;
  for (const SelectionKey& row : kSelectionKeys) {
    if (row.name == key && equals != std::string_view::npos) {
      return row.set(selection, part.substr(equals + 1));
    }
    known.emplace_back(row.name);
  }
  throw std::invalid_argument(fmt::format("[gpu] expected capacity=SIZE or count=N, not \"{}\"{}",
                                          part, did_you_mean(key, known)));
}

}  // namespace

// PyTorch takes whatever cuDNN suggests first, where there is memory for it. The bound keeps one
// call from taking most of a card.
std::size_t cudnn_workspace_bytes(const GpuProfile& profile) {
  return profile.cublas_workspace_bytes == 0 ? 0 : 1_GiB;
}

std::size_t cublas_workspace_bytes(const std::array<int, 2>& compute_capability) {
  return compute_capability == std::array{9, 0} ? kHopperWorkspace : kWorkspace;
}

int threads_per_multiprocessor(const std::array<int, 2>& compute_capability) {
  const auto [major, minor] = compute_capability;
  if (major == 7 && minor == 5) return 1024;
  const bool is_small = (major == 8 && minor != 0) || major >= 11;
  return is_small ? 1536 : 2048;
}

const GpuProfile& find_gpu_profile(std::string_view name) {
  for (const GpuProfile& profile : gpu_profiles()) {
    if (profile.name == name) return profile;
  }
  throw std::invalid_argument(
      fmt::format("[gpu] unknown profile \"{}\"{}", name, similar_gpus(name)));
}

GpuSelection parse_gpu_selection(std::string_view text) {
  return parse_gpu_selection(text, find_gpu_profile(text.substr(0, text.find(','))));
}

GpuSelection parse_gpu_selection(std::string_view text, const GpuProfile& profile) {
  const std::vector<std::string_view> parts = split_at_commas(text);
  GpuSelection selection;
  selection.profile = profile;
  for (std::size_t i = 1; i < parts.size(); ++i) apply(selection, parts[i]);
  return selection;
}

}  // namespace ohm
