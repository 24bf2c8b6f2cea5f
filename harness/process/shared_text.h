// The text of a file, in memory that forks share.
//
// The heap of a process is copied with it, page by page, or its tables are: what is as large as a
// plan of many variants would make each trial of a sweep slower.
#pragma once

#include <cstddef>
#include <string_view>

namespace ohm::engine {

class SharedText {
 public:
  /// What the open file has now. Throws std::system_error.
  explicit SharedText(int descriptor);
  ~SharedText();
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;

  std::string_view text() const { return {bytes_, size_}; }

 private:
  char* bytes_;
  std::size_t room_;
  std::size_t size_ = 0;
};

}  // namespace ohm::engine
