// The memory of one GPU, and what each process has taken of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ohm {

class SharedGpuMemory {
 public:
  struct Process {
    std::uint32_t id = 0;
    std::size_t bytes = 0;
    std::size_t place = 0;  ///< that add_process() gave it
  };

  explicit SharedGpuMemory(std::size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
  virtual ~SharedGpuMemory() = default;
  SharedGpuMemory(const SharedGpuMemory&) = delete;
  SharedGpuMemory& operator=(const SharedGpuMemory&) = delete;

  std::size_t capacity_bytes() const { return capacity_bytes_; }
  virtual std::size_t used_bytes() const { return used_bytes_; }
  /// In the order they came.
  virtual std::vector<Process> processes() const { return processes_; }

  /// One more, which has taken nothing yet. Its place.
  virtual std::size_t add_process(std::uint32_t id);
  /// False: there is no room.
  virtual bool take(std::size_t place, std::size_t bytes);
  /// No more than was taken.
  virtual void give_back(std::size_t place, std::size_t bytes);

 private:
  std::size_t capacity_bytes_;
  std::size_t used_bytes_ = 0;
  std::vector<Process> processes_;
};

}  // namespace ohm
