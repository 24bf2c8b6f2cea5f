// An image of what this process writes to, which it goes back to.
//
// Note [Back instead of a copy]
// A copy of a process that is made to fail once and to end takes most of its time in the kernel:
// for the copy itself, and then page by page for what the copy writes to. A process that writes to
// the same pages each time is quicker when it copies these by hand and puts them back: of the heap,
// of the variables of the program and its libraries, of the stack; and the registers.
//
// Which pages these are the kernel tells: in a fork whose parent waits, what it has not written to
// is its parent's still, page by page. A page that is written to, or given back, for the first time
// after the image was taken cannot be put back: the process has to end, and the forks that follow
// have it in their images. So it has where the kernel knows something else: other mappings, or
// other open files.
#pragma once

#include <cstddef>

namespace ohm::engine {

class MemoryImage {
 public:
  /// Made by the parent of the processes that take images: what one of them finds out the next one
  /// knows. Of up to so many bytes; 0: none is ever taken.
  explicit MemoryImage(std::size_t most_bytes);
  ~MemoryImage();
  MemoryImage(const MemoryImage&) = delete;
  MemoryImage& operator=(const MemoryImage&) = delete;

  enum class Taken { now, put_back, not_possible };
  /// Takes an image, and returns once more, with `put_back`, for each put_back() that succeeds.
  /// Not possible: with several threads, with more bytes, under a sanitizer, where images could
  /// hardly ever be put back. Memory that is shared with other processes is not part of it.
  Taken take();

  /// The quickest take() of all these processes.
  double seconds_of_a_take() const;

  /// After take(): everything is as it was then. Returns where it cannot be; the process has to end
  /// then, as it would have without an image.
  void put_back();

 private:
  struct Copy;

  Copy* copy_ = nullptr;  ///< shared, so that no image has it; nullptr: none is ever taken
};

}  // namespace ohm::engine
