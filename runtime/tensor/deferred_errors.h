// Errors in a program's values that kernels of a CUDA device find, and the host is told of later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "allocator_shim/device/cuda/cuda_device.h"

namespace ohm {

// Note [Errors that are told later]
// Whether an index is a place is known where the index is, on the device. To ask for it is to wait
// for everything that was queued: for each embedding, gather and loss. A kernel keeps what it finds
// in a word of the device instead, and the kernels behind it leave out what is not a place. The
// host looks at the words when it waits for the device anyway: before it reads a value there, when
// the program synchronizes, and at the program's end. On virtual GPUs and on the host the op itself
// throws.

/// The words of one device, and what each of them stands for.
class DeferredErrors {
 public:
  /// What a word holds where nothing is wrong. Bytes that are all the same: the device fills it.
  static constexpr std::int64_t kNothing = 0x7f7f7f7f7f7f7f7f;

  /// Of the least of what is wrong.
  using Message = std::function<std::string(std::int64_t least)>;

  explicit DeferredErrors(std::shared_ptr<const cuda::CudaDevice> device)
      : device_(std::move(device)) {}
  ~DeferredErrors();
  DeferredErrors(const DeferredErrors&) = delete;
  DeferredErrors& operator=(const DeferredErrors&) = delete;

  /// The address of a word, an int64 in which a kernel keeps the least of what is wrong; 0 where
  /// the device has no memory for any. Where all words are taken it checks them first.
  std::uint64_t defer(Message message);

  /// Waits for the device where anything was deferred since. Throws std::invalid_argument with the
  /// message of the first that is wrong, once.
  void check();

 private:
  void fill() const;

  std::shared_ptr<const cuda::CudaDevice> device_;
  cuda::Pointer words_ = 0;
  std::vector<Message> messages_;  ///< of the words in use
};

}  // namespace ohm
