// Results with every member set, and the members in which two results differ: both walk the fields.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/model/fields.h"
#include "reports/model/memory_history.h"

namespace ohm::test {

/// Sets everything to something that a new struct does not have.
class Filler {
 public:
  template <HasFields Struct>
  void fill(Struct& value) {
    each_field<Struct>([&](const auto& field) {
      if constexpr (std::remove_cvref_t<decltype(field)>::kIsStored) fill(value.*field.member);
    });
  }
  void fill(MemoryHistory& history) {
    fill<MemoryHistory>(history);
    history.events = 3;  // two buckets, as long as every list
    history.events_per_bucket = 2;
  }

 private:
  void fill(std::string& text) { text = "text " + std::to_string(++count_); }
  void fill(bool& value) { value = !value; }
  void fill(double& value) { value = ++count_ + 0.5; }
  template <class T>
  void fill(std::optional<T>& value) {
    fill(value.emplace());
  }
  template <class T>
  void fill(std::vector<T>& values) {
    values.resize(2);
    for (T& value : values) fill(value);
    // Indices into tables of two.
    if constexpr (std::is_same_v<T, HistoryBlock>) values[0].site = 0, values[1].site = 1;
    if constexpr (std::is_same_v<T, HistorySite>) values[0].call = 1, values[1].call = 2;
    if constexpr (std::is_same_v<T, HistoryCall>) values[0] = {0, 0}, values[1] = {1, 1};
  }
  template <class T, std::size_t Size>
  void fill(std::array<T, Size>& values) {
    for (T& value : values) fill(value);
  }
  void fill(std::map<std::string, std::string>& values) { values["key"] = "value"; }
  template <class T>
  void fill(T& value) {
    if constexpr (std::is_enum_v<T>) {
      const T last = static_cast<T>(word_count(T()) - 1);
      value = value == last ? T() : last;
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(++count_);
    } else if constexpr (HasFields<T>) {
      fill<T>(value);
    }
  }

  int count_ = 1;
};

template <class Struct>
Struct filled() {
  Struct value;
  Filler().fill(value);
  return value;
}

// ---- how many members a struct has --------------------------------------------------------------

struct AnyMember {
  template <class T>
  operator T() const;  // NOLINT: that is what it is for
};

template <class Struct, std::size_t... Indices>
constexpr bool takes(std::index_sequence<Indices...> /*count*/) {
  return requires { Struct{(static_cast<void>(Indices), AnyMember())...}; };
}

/// Of an aggregate without bases.
template <class Struct, std::size_t Count = 0>
constexpr std::size_t member_count() {
  if constexpr (takes<Struct>(std::make_index_sequence<Count + 1>())) {
    return member_count<Struct, Count + 1>();
  } else {
    return Count;
  }
}

template <class Struct>
std::size_t stored_field_count() {
  std::size_t count = 0;
  each_field<Struct>([&count](const auto& field) {
    count += std::remove_cvref_t<decltype(field)>::kIsStored ? 1U : 0U;
  });
  return count;
}

// ---- differences --------------------------------------------------------------------------------

/// The members of a struct, and of those below it, that are different in `a` and `b`:
/// "device.card". Of each struct on the way also whether its fields are its members.
class Differences {
 public:
  template <HasFields Struct>
  bool compare(const Struct& a, const Struct& b) {
    if (member_count<Struct>() != stored_field_count<Struct>()) {
      incomplete_.insert(std::string(Struct::kSchemaName));
    }
    bool any = false;
    each_field<Struct>([&](const auto& field) {
      using FieldRow = std::remove_cvref_t<decltype(field)>;
      if constexpr (FieldRow::kIsStored) {
        const std::string name = std::string(Struct::kSchemaName) + "." + field.name;
        seen_.insert(name);
        if (!is_different(a.*field.member, b.*field.member)) return;
        names_.insert(name);
        any = true;
      }
    });
    return any;
  }

  const std::set<std::string>& seen() const { return seen_; }
  const std::set<std::string>& names() const { return names_; }
  /// Structs with a member that is not among their fields, or is there twice.
  const std::set<std::string>& incomplete() const { return incomplete_; }

 private:
  template <class T>
  bool is_different(const T& a, const T& b) {
    if constexpr (HasFields<T>) {
      return compare(a, b);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      return a != b;
    } else {
      return is_other(a, b);
    }
  }
  static bool is_other(const std::string& a, const std::string& b) { return a != b; }
  static bool is_other(const std::map<std::string, std::string>& a,
                       const std::map<std::string, std::string>& b) {
    return a != b;
  }
  template <class T>
  bool is_other(const std::optional<T>& a, const std::optional<T>& b) {
    const bool inside = is_different(a ? *a : T(), b ? *b : T());
    return inside || a.has_value() != b.has_value();
  }
  template <class Values>
  bool is_other(const Values& a, const Values& b) {
    bool any = a.size() != b.size();
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      using T = typename Values::value_type;
      any = is_different(i < a.size() ? a[i] : T(), i < b.size() ? b[i] : T()) || any;
    }
    return any;
  }

  std::set<std::string> seen_;
  std::set<std::string> names_;
  std::set<std::string> incomplete_;
};

}  // namespace ohm::test
