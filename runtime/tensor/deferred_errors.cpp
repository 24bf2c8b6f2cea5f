#include "runtime/tensor/deferred_errors.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ohm {
namespace {

constexpr std::size_t kWords = 1024;

}  // namespace

DeferredErrors::~DeferredErrors() {
  if (words_ != 0 && device_->make_current()) device_->driver().functions().memory_free(words_);
}

void DeferredErrors::fill() const {
  constexpr std::size_t kItemBytes = 4;
  constexpr auto kItem = static_cast<std::uint32_t>(kNothing);
  device_->fill(words_, kItem, kItemBytes, kWords * sizeof(kNothing) / kItemBytes);
}

std::uint64_t DeferredErrors::defer(Message message) {
  if (messages_.size() == kWords) check();
  if (words_ == 0) {
    const cuda::Result result =
        device_->current().memory_allocate(&words_, kWords * sizeof(kNothing));
    if (result == cuda::kOutOfMemory) return 0;
    device_->driver().check(result, "cuMemAlloc_v2");
    fill();
  }
  messages_.push_back(std::move(message));
  return words_ + (messages_.size() - 1) * sizeof(kNothing);
}

void DeferredErrors::check() {
  if (messages_.empty()) return;
  const std::vector<Message> messages = std::exchange(messages_, {});
  std::vector<std::int64_t> found(messages.size());
  device_->read(found.data(), words_, found.size() * sizeof(kNothing));
  const auto wrong =
      std::find_if(found.begin(), found.end(), [](std::int64_t word) { return word != kNothing; });
  if (wrong == found.end()) return;
  fill();
  throw std::invalid_argument(messages[static_cast<std::size_t>(wrong - found.begin())](*wrong));
}

}  // namespace ohm
