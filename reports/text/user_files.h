// The user's own files, told from those of libraries. Whatever names a line of a program names the
// innermost one of these: annotations, JUnit, consoles, findings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::reports {

/// How much a file is the user's. The innermost frame of the highest rank is what is named.
enum class Ownership : std::uint8_t {
  library,    ///< installed, Python's own, or without a file
  elsewhere,  ///< none of these, but outside the user's folders: an editable installation, say
  own,        ///< in one of the user's folders; where these are not known, what is no library's
};

class UserFiles {
 public:
  /// Folders are not known, as of snapshots that PyTorch wrote.
  UserFiles() = default;
  /// Absolute paths: the repository, and the folder of the script. What is installed within one of
  /// them (site-packages of a virtual environment) is a library all the same.
  explicit UserFiles(std::vector<std::string> folders);

  Ownership ownership(std::string_view path) const;
  bool are_known() const { return !folders_.empty(); }

 private:
  std::vector<std::string> folders_;  ///< each with a slash at its end
};

/// Whether a file that a report names is the user's: those of a repository are named from a folder
/// of it, without the folders above, which may be called as a library's are.
bool is_users_file(std::string_view reported);

}  // namespace ohm::reports
