// A copy of the folder that this program is in, for one run of a command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/exec/record_folder.h"

namespace ohm::engine {

/// In the folder of temporary files, and gone with this: files, folders and links, as far as they
/// can be read.
class ScratchFolder {
 public:
  /// Throws std::invalid_argument where that folder is inside the copied one, or full.
  ScratchFolder();
  std::string path() const { return folder_.path() + "/folder"; }
  /// Copies the folder as it is now, for put_back(). Throws as the constructor.
  void keep() const;
  /// Makes it as it was when it was kept.
  void put_back() const;
  /// The words of a command, with what they name in the folder named in the copy.
  std::vector<std::string> moved(const std::vector<std::string>& words) const;

 private:
  std::string kept() const { return folder_.path() + "/kept"; }

  RecordFolder folder_;
};

/// A word of a command in which each path that leads to the folder `from`, or into it, leads to
/// `to`:
/// "--out=FROM/x".
std::string with_folder_moved(std::string_view word, std::string_view from, std::string_view to);

/// Of the files in the folder that this program is in.
std::uintmax_t bytes_of_current_folder();

}  // namespace ohm::engine
