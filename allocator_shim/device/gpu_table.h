// What the processes of a command hold of the GPUs of one machine: a table in a file that each of
// them maps, so that they compete for the memory of a card.
//
// A process that ends gives all back, however it ends: whoever lacks room, or asks who is there,
// drops the rows of the dead. The lock survives the death of who holds it. Rows are told apart by
// the number of a process and when it started: numbers are used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "allocator_shim/device/shared_gpu_memory.h"

namespace ohm {

class GpuTable {
 public:
  /// Makes the file of an empty one. Throws std::invalid_argument that says why it cannot.
  static void create(const std::string& path);
  /// Throws std::invalid_argument likewise.
  explicit GpuTable(const std::string& path);
  ~GpuTable();
  GpuTable(const GpuTable&) = delete;
  GpuTable& operator=(const GpuTable&) = delete;

  /// Drops what a program took that this process was before it became another one (exec).
  void forget_this_process();

  /// For the calling process. `device`: its number in the machine, below kMaxGpuCount. False: there
  /// is no room, or there are more processes than the table has rows.
  bool take(int device, std::size_t capacity_bytes, std::size_t bytes);
  /// Of what it has.
  void give_back(int device, std::size_t bytes);
  /// Of all that live and hold memory of it, in the order of their rows.
  std::vector<SharedGpuMemory::Process> processes(int device);

 private:
  struct Row;
  struct Table;
  class Lock;

  Row* own_row();
  void drop_dead();
  std::size_t used_bytes(std::size_t device) const;

  Table* table_ = nullptr;
  std::int64_t process_ = 0;  ///< that started_ is of
  std::uint64_t started_ = 0;
};

/// One GPU of a table. It does not own the table.
class TabledGpuMemory final : public SharedGpuMemory {
 public:
  TabledGpuMemory(GpuTable& table, int device, std::size_t capacity_bytes)
      : SharedGpuMemory(capacity_bytes), table_(table), device_(device) {}

  std::size_t used_bytes() const override;
  std::vector<Process> processes() const override { return table_.processes(device_); }
  /// The calling process: there is no other one here.
  std::size_t add_process(std::uint32_t id) override { return id; }
  bool take(std::size_t /*place*/, std::size_t bytes) override {
    return table_.take(device_, capacity_bytes(), bytes);
  }
  void give_back(std::size_t /*place*/, std::size_t bytes) override {
    table_.give_back(device_, bytes);
  }

 private:
  GpuTable& table_;
  int device_;
};

}  // namespace ohm
