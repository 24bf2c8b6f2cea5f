// A copy of the folder that this program is in, for one run of a command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/exec/record_folder.h"

namespace ohm::engine {

/// In the folder of temporary files, and gone with this.
class ScratchFolder {
 public:
  ScratchFolder();
  std::string path() const { return folder_.path() + "/folder"; }
  /// The words of a command, with what they name in the folder named in the copy.
  std::vector<std::string> moved(const std::vector<std::string>& words) const;

 private:
  RecordFolder folder_;
};

/// Of the files in the folder that this program is in.
std::uintmax_t bytes_of_current_folder();

}  // namespace ohm::engine
