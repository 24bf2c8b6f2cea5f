// The texts, frames and stacks of a snapshot, each kept once.
//
// A trace of a million events has a few thousand different stacks; the events carry ids of four
// bytes. Ids are handles: equal ids mean equal contents, their values mean nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "allocator_shim/base/word_arena.h"

namespace ohm {

using TextId = std::uint32_t;
using FrameId = std::uint32_t;
using StackId = std::uint32_t;

inline constexpr TextId kNoText = 0;    ///< ""
inline constexpr StackId kNoStack = 0;  ///< no frames, or none recorded

struct StackFrame {
  TextId filename = kNoText;
  TextId name = kNoText;  ///< of the function
  std::int32_t line = 0;

  friend bool operator==(const StackFrame&, const StackFrame&) = default;
};

/// What it hands out stays where it is as long as the table lives, moved or not.
class StackTable {
 public:
  StackTable();

  /// The id of these contents, new or known. A table has room for 2^32 words of each kind: beyond
  /// that std::length_error.
  TextId intern(std::string_view text);
  FrameId intern(const StackFrame& frame);
  StackId intern(std::span<const FrameId> innermost_first);

  /// For ids that this table handed out.
  std::string_view text(TextId id) const;
  const StackFrame& frame(FrameId id) const { return frames_[id]; }
  std::span<const FrameId> stack(StackId id) const;

  /// FrameIds are 0 … frame_count() − 1.
  std::size_t frame_count() const { return frames_.size(); }

 private:
  WordArena texts_;
  WordArena stacks_;
  std::vector<StackFrame> frames_;
  RecordIndex text_index_;
  RecordIndex frame_index_;
  RecordIndex stack_index_;
};

}  // namespace ohm
