// A list whose entries are found by their names.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ohm::nn {

/// Entry has a `name`, which stays as it is. Entries come in order. Of several with one name the
/// first is found.
template <class Entry>
class NamedList {
 public:
  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<Entry>& entries() { return entries_; }

  void add(Entry entry) {
    entries_.push_back(std::move(entry));
    note_places();
  }

  /// Those behind it move up.
  void erase(std::size_t i) {
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    places_.clear();
    indexed_ = 0;
    note_places();
  }

  std::optional<std::size_t> find(std::string_view name) const {
    for (std::size_t i = indexed_; i < entries_.size(); ++i) {
      if (entries_[i].name == name) return i;
    }
    const auto place = places_.find(name);
    return place == places_.end() ? std::nullopt : std::optional(place->second);
  }

 private:
  // Most modules have few of everything: they are looked through.
  static constexpr std::size_t kFewEntries = 16;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };

  void note_places() {
    if (entries_.size() <= kFewEntries) return;
    for (; indexed_ < entries_.size(); ++indexed_) {
      places_.emplace(entries_[indexed_].name, indexed_);
    }
  }

  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> places_;
  std::size_t indexed_ = 0;  ///< the first so many entries are in `places_`
};

}  // namespace ohm::nn
