// Folders for the records of commands.
#pragma once

#include <string>

namespace ohm::engine {

/// A new folder for the records of a command. A command that gives up privileges writes to it all
/// the same.
class RecordFolder {
 public:
  /// In the folder of temporary files, and gone with this; it goes also where this program is
  /// killed, at the latest when another one of its kind is made. Throws std::invalid_argument.
  RecordFolder();
  /// There, for good; it must be empty or not there yet. Throws std::invalid_argument.
  explicit RecordFolder(std::string path);
  ~RecordFolder();
  RecordFolder(const RecordFolder&) = delete;
  RecordFolder& operator=(const RecordFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  void guard();

  std::string path_;
  bool is_kept_ = false;
  int lock_ = -1;     ///< held as long as this program lives
  int guarded_ = -1;  ///< a pipe that ends with this program
};

}  // namespace ohm::engine
