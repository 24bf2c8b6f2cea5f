// Calls of modules, as ohm record --modules notes them in the first steps of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::engine {

/// One that autograd made, and where backward comes to it.
struct RecordedNode {
  enum class Saves : std::uint8_t { nothing, maybe, something };

  std::uint32_t event = 0;  ///< the first one behind its beginning
  Saves saves = Saves::nothing;
  /// What it has saved goes when so many of its results are there, before gradients of what was
  /// broadcast are summed up; 0: when it is done.
  std::uint32_t results = 0;
  bool has_unknown_results = false;  ///< the same, of an unknown number
};

/// Of one module, once, where a graph was recorded. Numbers are indices of events of the device's
/// trace.
struct RecordedCall {
  std::string path;  ///< "GPT.blocks.3.mlp"
  std::size_t device = 0;
  std::uint32_t begin = 0;  ///< the first event of it
  std::uint32_t end = 0;    ///< the first one behind it
  /// Where backward comes to each of its nodes, ascending; empty: it does not, or comes twice.
  std::vector<RecordedNode> nodes;
  std::vector<std::uint32_t> inputs;   ///< allocations of what goes in
  std::vector<std::uint32_t> outputs;  ///< allocations of what comes out and did not go in
  bool casts = false;                  ///< under autocast
};

/// In the order of the file; passes over what is written otherwise than ohm record does.
std::vector<RecordedCall> recorded_calls(const Snapshot& snapshot);

/// Whether a path is one of a pattern's, in which * stands for any one part: "GPT.blocks.*".
bool is_module_of(std::string_view path, std::string_view pattern);

}  // namespace ohm::engine
