// The scenarios as they were at another revision.
#pragma once

#include <stdexcept>
#include <string>

namespace ohm::engine {

class RevisionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A folder that holds what a folder of a git repository held at a revision, or where HEAD parted
/// from it; removed with this.
class RevisionFolder {
 public:
  /// Throws RevisionError: no repository, no such revision, no git.
  RevisionFolder(const std::string& folder, const std::string& revision);
  ~RevisionFolder();
  RevisionFolder(const RevisionFolder&) = delete;
  RevisionFolder& operator=(const RevisionFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace ohm::engine
