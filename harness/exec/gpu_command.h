// A command made to see virtual GPUs, and to record what its processes do with their memory.
#pragma once

#include <string>
#include <vector>

#include "harness/exec/child_command.h"

namespace ohm::engine {

/// The command that `words` are, with the library preloaded that takes CUDA's place, and in each
/// Python of it what prepares PyTorch (harness/record/sitecustomize.py). `gpus` as
/// parse_gpu_selection() reads it. Throws std::invalid_argument that says why nothing can be
/// preloaded into it, or that it is not found; GpuUnavailable where the library is missing.
ChildCommand gpu_command(const std::vector<std::string>& words, const std::string& gpus);

/// Makes every Python of a command of gpu_command() record its memory to the folder.
void add_recorder(ChildCommand& command, const std::string& folder);

/// A new folder for the records of a command.
class RecordFolder {
 public:
  /// In the folder of temporary files, and gone with this. Throws std::invalid_argument.
  RecordFolder();
  /// There, for good; it must be empty or not there yet. Throws std::invalid_argument.
  explicit RecordFolder(std::string path);
  ~RecordFolder();
  RecordFolder(const RecordFolder&) = delete;
  RecordFolder& operator=(const RecordFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_kept_ = false;
};

}  // namespace ohm::engine
