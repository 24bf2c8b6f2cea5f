#include "allocator_shim/base/byte_window.h"

#include <algorithm>
#include <cstring>

namespace ohm {

std::optional<std::uint64_t> ByteWindow::bytes_left() const {
  if (!total_bytes_) return std::nullopt;
  return *total_bytes_ - std::min(*total_bytes_, offset());
}

/// No more than there is, and something where that is not known or not true.
std::size_t ByteWindow::first_window_bytes() const {
  const std::uint64_t total = total_bytes_.value_or(kWindowBytes);
  return std::clamp<std::uint64_t>(total, 1, kWindowBytes);
}

bool ByteWindow::refill(std::size_t count) {
  if (!read_) return false;
  // What cannot come is not waited for: a length in the file is only the file's word.
  if (total_bytes_ && count > *bytes_left()) return false;
  bytes_before_ = offset();
  auto kept = static_cast<std::size_t>(end_ - at_);
  if (kept > 0) std::memmove(window_.data(), at_, kept);
  while (kept < count) {
    if (kept == window_.size()) window_.resize(std::max(first_window_bytes(), 2 * kept));
    const std::size_t got = read_(std::span(window_).subspan(kept));
    if (got == 0) break;
    kept += got;
  }
  window_begin_ = at_ = window_.data();
  end_ = at_ + kept;
  return kept >= count;
}

}  // namespace ohm
