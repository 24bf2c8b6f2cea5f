// Profiles of virtual GPUs: a table of those that have a name, and how a selection is written.
//
// A profile is one row of gpu_profile_table.cpp; adding one touches nothing else. One that was
// measured stands in no table: the caller who read it hands it on with the selection.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ohm {

struct GpuProfile {
  std::string name;
  /// What the runtime reports as total and what the out-of-memory message prints.
  std::size_t capacity_bytes = 0;
  /// Read from a device query or a message; otherwise two decimals of a public message.
  bool capacity_is_exact = false;
  /// What a process takes outside the caching allocator before its first kernel; a model where
  /// nothing else is said.
  std::size_t context_bytes = 0;
  std::array<int, 2> compute_capability = {0, 0};  ///< major, minor
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
  std::size_t cublas_workspace_bytes = 0;  ///< per handle; 0: workspaces are left out
  /// cuDNN's attention and the dropout of its recurrent networks take what was measured on such a
  /// card: see attention_workspace.h and recurrent_reserve.h.
  bool has_measured_cudnn = false;
  /// Recurrent networks keep for backward what they keep on an H100 (recurrent_reserve.h), which is
  /// assumed of every other card. False: nothing, as in recordings.
  bool has_recurrent_reserve = false;
  /// What cuDNN took for convolutions on such a card, by what was computed; empty: not measured.
  std::map<std::string, std::size_t> convolution_workspaces = {};
  /// As nvidia-smi prints it; of a MIG device with the profile, as in "NVIDIA H100 80GB HBM3 MIG
  /// 1g.10gb". Empty: no card that can be bought.
  std::string product = {};
  std::size_t l2_cache_bytes = 0;    ///< 0: not published
  bool context_is_measured = false;  ///< otherwise assumed
  std::string source = {};           ///< of the capacity: who published it
};

/// The largest workspace that a convolution on a real card may take of a GPU like this: none where
/// workspaces are left out.
std::size_t cudnn_workspace_bytes(const GpuProfile& profile);

std::span<const GpuProfile> gpu_profiles();

/// What PyTorch takes for a handle of cuBLAS on a device of this compute capability.
std::size_t cublas_workspace_bytes(const std::array<int, 2>& compute_capability);

/// Threads that a multiprocessor of this compute capability holds.
int threads_per_multiprocessor(const std::array<int, 2>& compute_capability);

/// A row of the table. Throws std::invalid_argument that suggests the nearest name.
const GpuProfile& find_gpu_profile(std::string_view name);

/// `NAME[,capacity=SIZE][,count=N]`: GPUs of one kind.
struct GpuSelection {
  GpuProfile profile;        ///< with the capacity that was asked for
  std::optional<int> count;  ///< as asked for; nullopt: not said
  std::string file;          ///< that the profile was read from; empty: it is in the table
};

/// At most this many GPUs in one selection.
inline constexpr int kMaxGpuCount = 64;

/// Throws std::invalid_argument that names the part of `text` that is wrong.
GpuSelection parse_gpu_selection(std::string_view text);
/// The same of a profile that stands in no table: NAME is not looked up.
GpuSelection parse_gpu_selection(std::string_view text, const GpuProfile& profile);

}  // namespace ohm
