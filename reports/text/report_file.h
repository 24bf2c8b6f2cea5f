// A report on its way to a file: checked before the run, written whole or not at all.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ohm::reports {

/// A file that is replaced at once or stays what it was. The constructor makes a temporary file
/// beside it, so that a path that cannot be written is found before hours of work; write() writes
/// there, commit() renames. What is not a regular file (a pipe, a device) is written to directly.
class ReportFile {
 public:
  /// What becomes of a pipe that no process reads yet.
  enum class UnreadPipe { waits, is_refused };

  /// Throws std::runtime_error that names the path and the cause.
  explicit ReportFile(std::string path, UnreadPipe pipe = UnreadPipe::waits);
  /// Removes the temporary file when commit() was not reached.
  ~ReportFile();
  ReportFile(ReportFile&& other) noexcept;
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  /// Adds to what will be the file. Throws std::runtime_error that names the path and the cause.
  void write(std::string_view bytes);
  /// Nothing more will be written: it is on its disk. Throws as write().
  void finish();
  /// What was written becomes the file. Throws std::runtime_error that names the path and the
  /// cause; the file is then untouched.
  void commit();
  void commit(std::string_view last_bytes) {
    write(last_bytes);
    commit();
  }

  /// The same for all of them or for none: where one cannot be replaced, those before it are put
  /// back; the error says which could not be.
  static void commit_all(std::span<ReportFile* const> files);

  const std::string& path() const { return path_; }
  /// What is written goes to its place at once: into a pipe, to a device.
  bool is_direct() const { return is_direct_; }

  /// For a process that ends without its destructors, and for handlers of
  /// kEndingSignals: removes its temporary files.
  static void remove_unfinished() noexcept;

 private:
  /// What lies at the path, and at that of the temporary file.
  enum class State {
    old_file,   ///< and the new one
    new_file,   ///< and nothing
    exchanged,  ///< the new one, and the old one
  };

  void open_direct(UnreadPipe pipe);
  int replace(bool keeps_old) noexcept;
  void put_back() noexcept;
  void remove_temporary() noexcept;
  void link() noexcept;
  void unlink_from_list() noexcept;

  std::string path_;
  std::string target_path_;     ///< the file to replace
  std::string temporary_path_;  ///< empty: the path itself is open
  int descriptor_ = -1;
  bool is_direct_ = false;
  State state_ = State::old_file;
  bool is_new_ = false;         ///< there was no file
  int process_ = 0;             ///< that made it
  ReportFile* next_ = nullptr;  ///< the unfinished ones
};

}  // namespace ohm::reports
