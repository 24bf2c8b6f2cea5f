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

/// A hash table of record ids that keeps no keys: whoever asks compares.
class RecordIndex {
 public:
  /// The id for which `is_same(id)` holds among those that were added with this hash.
  template <typename IsSame>
  std::optional<std::uint32_t> find(std::uint64_t hash, IsSame is_same) const {
    if (slots_.empty()) return std::nullopt;
    for (std::size_t slot = hash & mask(); slots_[slot] != kEmpty; slot = (slot + 1) & mask()) {
      if (is_same(slots_[slot])) return slots_[slot];
    }
    return std::nullopt;
  }

  /// `hash_of(id)` gives again the hash of anything added before.
  template <typename HashOf>
  void add(std::uint64_t hash, std::uint32_t id, HashOf hash_of) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow(hash_of);
    put(hash, id);
    ++count_;
  }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

  std::size_t mask() const { return slots_.size() - 1; }

  void put(std::uint64_t hash, std::uint32_t id) {
    std::size_t slot = hash & mask();
    while (slots_[slot] != kEmpty) slot = (slot + 1) & mask();
    slots_[slot] = id;
  }

  template <typename HashOf>
  void grow(HashOf hash_of) {
    std::vector<std::uint32_t> old(slots_.empty() ? 16 : slots_.size() * 2, kEmpty);
    old.swap(slots_);
    for (const std::uint32_t id : old) {
      if (id != kEmpty) put(hash_of(id), id);
    }
  }

  std::vector<std::uint32_t> slots_;  ///< a power of two of them
  std::size_t count_ = 0;
};

}  // namespace ohm
