// What a command leaves in its folder: files that are new there, or were written to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ohm::engine {

class FolderChanges {
 public:
  /// Of the folder as it is now. In one with very many files only the first ones are looked at.
  explicit FolderChanges(std::string folder);

  /// What has changed since, by name; what Python compiles is left out.
  std::vector<std::string> since() const;

 private:
  using Files = std::map<std::string, std::pair<std::uintmax_t, std::int64_t>>;

  static Files files_in(const std::string& folder);

  std::string folder_;
  Files before_;
};

}  // namespace ohm::engine
