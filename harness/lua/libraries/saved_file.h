// SavedFile: what ohm.save() wrote, and ohm.load() reads: plain values, tables of them and tensors,
// with the whole of the storages that the tensors look at, as PyTorch saves them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/device.h"
#include "runtime/base/dtype.h"
#include "runtime/base/shape.h"
#include "runtime/tensor/tensor.h"

namespace ohm::lua {

/// One storage, outside all memory that is counted: a file's.
struct SavedStorage {
  Device device;
  DType dtype = DType::float32;   ///< of all tensors on it
  std::int64_t count = 0;         ///< of elements
  std::vector<std::byte> values;  ///< empty on size-only devices
};

struct SavedTensor {
  std::size_t storage = 0;  ///< among the file's
  Shape shape;
  Shape strides;
  std::int64_t offset = 0;
  bool requires_grad = false;
  bool is_parameter = false;
};

/// Numbers among the file's tensors and tables.
struct SavedTensorNumber {
  std::size_t number;
};
struct SavedTableNumber {
  std::size_t number;
};
using SavedValue =
    std::variant<bool, std::int64_t, double, std::string, SavedTensorNumber, SavedTableNumber>;

using SavedTable = std::vector<std::pair<SavedValue, SavedValue>>;

struct SavedFile {
  std::vector<SavedStorage> storages;
  std::vector<SavedTensor> tensors;
  std::vector<SavedTable> tables;
  SavedValue root = false;
};

/// What it takes of the host's memory, roughly.
std::size_t bytes_of(const SavedFile& file);

/// The file's storages and tensors of these, in their order; those of one storage share it.
void save_tensors(SavedFile& file, const std::vector<std::pair<Tensor, bool>>& tensors);

/// The file's tensors anew, storage by storage, each on the device that `device_of` gives for the
/// one that it was saved from. Throws OutOfMemory.
std::vector<Tensor> loaded_tensors(const SavedFile& file,
                                   const std::function<Device(Device saved)>& device_of);

}  // namespace ohm::lua
