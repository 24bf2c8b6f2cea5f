// Records of 32-bit words that never move: room that grows in chunks, so that growing needs no
// second copy of what is there, and the index by which a table finds the record that it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ohm {

class WordArena {
 public:
  using Position = std::uint32_t;

  /// A record of one length word and `words` words after it, filled by the caller; its position is
  /// that of the length. Throws std::length_error when 2^32 words are used up.
  Position add(std::uint32_t length, std::size_t words);

  /// The length word that `position` was given, and the words after it.
  std::uint32_t length(Position position) const { return *at(position); }
  const std::uint32_t* words(Position position) const { return at(position) + 1; }
  std::uint32_t* words(Position position) { return at(position) + 1; }

 private:
  static constexpr std::size_t kChunkWords = std::size_t{1} << 15U;

  std::uint32_t* at(Position position) const {
    return chunks_[position / kChunkWords] + position % kChunkWords;
  }

  std::vector<std::unique_ptr<std::uint32_t[]>> owned_;
  std::vector<std::uint32_t*> chunks_;  ///< where each kChunkWords begin; of a long record several
  std::size_t used_ = 0;                ///< position of the next record, if it fits its chunk
};

/// A hash table of record ids that keeps no keys: the caller compares.
class RecordIndex {
 public:
  /// The id for which `is_same(id)` holds among those that were added with this hash.
  template <typename IsSame>
  std::optional<std::uint32_t> find(std::uint64_t hash, IsSame is_same) const {
    if (slots_.empty()) return std::nullopt;
    const std::uint32_t short_hash = shortened(hash);
    for (std::size_t i = short_hash & mask(); slots_[i].id != kEmpty; i = (i + 1) & mask()) {
      if (slots_[i].hash == short_hash && is_same(slots_[i].id)) return slots_[i].id;
    }
    return std::nullopt;
  }

  /// `id` is below 2^32 - 1.
  void add(std::uint64_t hash, std::uint32_t id) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    put({shortened(hash), id});
    ++count_;
  }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id = kEmpty;
  };

  static std::uint32_t shortened(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash ^ hash >> 32U);
  }
  std::size_t mask() const { return slots_.size() - 1; }

  void put(Slot slot) {
    std::size_t i = slot.hash & mask();
    while (slots_[i].id != kEmpty) i = (i + 1) & mask();
    slots_[i] = slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id != kEmpty) put(slot);
    }
  }

  std::vector<Slot> slots_;  ///< a power of two of them
  std::size_t count_ = 0;
};

}  // namespace ohm
