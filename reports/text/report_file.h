// A report on its way to a file: checked before the run, written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace ohm::reports {

/// A file that is replaced at once or stays what it was. The constructor makes a temporary file
/// beside it, so that a path that cannot be written is found before hours of work; write() writes
/// there, commit() renames. What is not a regular file (a pipe, a device) is written to directly.
class ReportFile {
 public:
  /// Throws std::runtime_error that names the path and the cause.
  explicit ReportFile(std::string path);
  /// Removes the temporary file when commit() was not reached.
  ~ReportFile();
  ReportFile(ReportFile&& other) noexcept;
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  /// Adds to what will be the file. Throws std::runtime_error that names the path and the cause.
  void write(std::string_view bytes);
  /// What was written becomes the file. Throws std::runtime_error that names the path and the
  /// cause; the file is then untouched.
  void commit();
  void commit(std::string_view last_bytes) {
    write(last_bytes);
    commit();
  }

  const std::string& path() const { return path_; }

  /// For a process that ends without its destructors: removes its temporary files.
  static void remove_unfinished() noexcept;

 private:
  void link() noexcept;
  void unlink_from_list() noexcept;

  std::string path_;
  std::string temporary_path_;  ///< empty: the path itself is open
  int descriptor_ = -1;
  int process_ = 0;             ///< that made it
  ReportFile* next_ = nullptr;  ///< the unfinished ones
};

}  // namespace ohm::reports
