#include "allocator_shim/observe/stack_table.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

namespace ohm {

namespace {

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 32U);
}

std::uint64_t hash_of(const StackFrame& frame) {
  return mixed(mixed(frame.filename, frame.name), static_cast<std::uint64_t>(frame.line));
}

std::uint64_t hash_of(std::span<const FrameId> frames) {
  std::uint64_t hash = frames.size();
  for (const FrameId frame : frames) hash = mixed(hash, frame);
  return hash;
}

}  // namespace

StackTable::StackTable() {
  intern(std::string_view());
  intern(std::span<const FrameId>());
}

TextId StackTable::intern(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  const auto known = text_index_.find(hash, [&](TextId id) { return this->text(id) == text; });
  if (known) return *known;
  if (text.size() > UINT32_MAX) throw std::length_error("[stack table] a text of over 4 GiB");
  const std::size_t words = (text.size() + 3) / 4;
  const TextId id = texts_.add(static_cast<std::uint32_t>(text.size()), words);
  if (!text.empty()) std::memcpy(texts_.words(id), text.data(), text.size());
  text_index_.add(hash, id);
  return id;
}

FrameId StackTable::intern(const StackFrame& frame) {
  const std::uint64_t hash = hash_of(frame);
  const auto known = frame_index_.find(hash, [&](FrameId id) { return frames_[id] == frame; });
  if (known) return *known;
  const auto id = static_cast<FrameId>(frames_.size());
  frames_.push_back(frame);
  frame_index_.add(hash, id);
  return id;
}

StackId StackTable::intern(std::span<const FrameId> innermost_first) {
  const std::uint64_t hash = hash_of(innermost_first);
  const auto known = stack_index_.find(
      hash, [&](StackId id) { return std::ranges::equal(stack(id), innermost_first); });
  if (known) return *known;
  const StackId id =
      stacks_.add(static_cast<std::uint32_t>(innermost_first.size()), innermost_first.size());
  std::ranges::copy(innermost_first, stacks_.words(id));
  stack_index_.add(hash, id);
  return id;
}

std::string_view StackTable::text(TextId id) const {
  return {reinterpret_cast<const char*>(texts_.words(id)), texts_.length(id)};
}

std::span<const FrameId> StackTable::stack(StackId id) const {
  return {stacks_.words(id), stacks_.length(id)};
}

}  // namespace ohm
