// Snapshots of any length, as Python writes those of PyTorch 2.6: every dictionary and list in the
// memo, a list of frames of its own for every request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/snapshot/pickle_writer.h"
#include "allocator_shim/snapshot/snapshot_keys.h"

namespace ohm::test {

enum class LargeSnapshot {
  with_frames,       ///< 20 frames an event, of 3,000 stacks
  without_frames,    ///< as record_memory_history(context=None) leaves it
  different_stacks,  ///< 4 frames an event, hardly any two stacks alike: nothing to keep once
};

class LargeSnapshotWriter {
 public:
  LargeSnapshotWriter(LargeSnapshot kind, std::size_t events, const PickleWriter::Write& write)
      : kind_(kind), events_(events), out_(write) {}

  void write() {
    out_.begin_memoized_dict();
    key("segments");
    out_.memoized_list(0, [](std::size_t) {});
    key("device_traces");
    out_.memoized_list(
        1, [&](std::size_t) { out_.memoized_list(events_, [&](std::size_t i) { entry(i); }); });
    out_.end_dict();
    out_.stop();
  }

 private:
  static constexpr std::uint32_t kFrames = 5000;
  static constexpr std::uint32_t kStacks = 3000;

  void key(const std::string& word) {
    for (const auto& [known, number] : words_) {
      if (known == word) return out_.again(number);
    }
    out_.text(word);
    words_.emplace_back(word, out_.memoize());
  }

  void entry(std::size_t i) {
    const bool is_alloc = i % 3 == 0;
    if (is_alloc) {
      bytes_ = 1 + random_() % (1U << 28U);
      address_ += 512 + bytes_ / 512 * 512;
    }
    out_.begin_memoized_dict();
    key("action");
    key(is_alloc ? "alloc" : i % 3 == 1 ? "free_requested" : "free_completed");
    key("addr");
    out_.natural(address_);
    key("size");
    out_.natural(bytes_);
    key("stream");
    out_.integer(0);
    key("time_us");
    out_.natural(1'735'226'707'923'455 + 10 * i);
    if (kind_ != LargeSnapshot::without_frames) frames(i);
    out_.end_dict();
  }

  void frames(std::size_t i) {
    key("frames");
    if (i % 3 == 2) return out_.again(stack_);  // both events of a free share one
    std::minstd_rand stack(1 + static_cast<std::uint32_t>(kind_ == LargeSnapshot::with_frames
                                                              ? random_() % kStacks
                                                              : random_()));
    const std::size_t depth = kind_ == LargeSnapshot::with_frames ? 20 : 4;
    stack_ = out_.memoized_list(
        depth, [&](std::size_t) { frame(static_cast<std::uint32_t>(stack() % kFrames)); });
  }

  void frame(std::uint32_t number) {
    if (memo_of_frames_.empty()) memo_of_frames_.resize(kFrames, kNotWritten);
    std::uint32_t& memo = memo_of_frames_[number];
    if (memo != kNotWritten) return out_.again(memo);
    memo = out_.begin_memoized_dict();
    key("name");
    new_text("function_" + std::to_string(number));
    key("filename");
    new_text("/usr/lib/python3/dist-packages/torch/nn/modules/file_" +
             std::to_string(number % 300) + ".py");
    key("line");
    out_.integer(number);
    out_.end_dict();
  }

  void new_text(const std::string& text) {
    out_.text(text);
    out_.memoize();
  }

  static constexpr std::uint32_t kNotWritten = ~std::uint32_t{0};

  LargeSnapshot kind_;
  std::size_t events_;
  PickleWriter out_;
  std::mt19937 random_{7};
  std::uint64_t address_ = 0x7f0000000000;
  std::uint64_t bytes_ = 0;
  std::uint32_t stack_ = 0;
  std::vector<std::pair<std::string, std::uint32_t>> words_;
  std::vector<std::uint32_t> memo_of_frames_;
};

inline void write_large_snapshot(LargeSnapshot kind, std::size_t events,
                                 const PickleWriter::Write& write) {
  LargeSnapshotWriter(kind, events, write).write();
}

}  // namespace ohm::test
