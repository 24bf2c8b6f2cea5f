// The changes that a command leaves in its folder: files that are new, or were written to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ohm::engine {

class FolderChanges {
 public:
  /// Of the folder as it is now, without `left_out`, a file or a folder in it (empty: none). In one
  /// with very many files only the first ones are looked at.
  FolderChanges(std::string folder, const std::string& left_out);

  /// What has changed since, by name; what Python compiles is left out.
  std::vector<std::string> since() const;

 private:
  using Files = std::map<std::string, std::pair<std::uintmax_t, std::int64_t>>;

  Files files() const;

  std::string folder_;
  std::string left_out_;
  Files before_;
};

}  // namespace ohm::engine
