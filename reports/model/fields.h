// Fields: what a struct of a result says about its members, once. Its JSON, the reader of that
// JSON, the messages between processes and the published schema all follow from them.
//
// A struct has a static member template `fields(visit)` that calls `visit` once for each member,
// with its name in JSON, a pointer to it, and rules in any order:
//
//   visit("bytes", &T::bytes);
//   visit("text", &T::text, Presence::optional, "Source text of the line.");
//
// In place of a pointer to a member stands a function of the struct where JSON has a value that is
// computed; nothing is stored, sent or read back for it.
//
// `kSchemaName` is the struct's name in the schema, `kSchemaDescription`, where there is one, its
// description there.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "allocator_shim/observe/category.h"

namespace ohm {

/// When a member is in JSON.
enum class Presence : std::uint8_t {
  always,    ///< an std::optional without a value is null
  optional,  ///< left out while it has the value of a new struct
  later,     ///< always, but results of older versions may lack it
};

// ---- shapes: how a value is written, where its type alone does not tell
// ---------------------------

struct PlainShape {};
/// A double with all of its digits.
struct ExactShape {};
/// Not in JSON at all; messages between processes carry it.
struct UnwrittenShape {};
/// Integers as one text with blanks between; a list of structs as an object of such texts.
struct ColumnsShape {};
/// The columns of a list of structs among the members of the struct that has the list.
struct OwnColumnsShape {};
/// An array that is indexed by an enum: an object by the enum's words.
template <class Enum>
struct KeyedShape {};

inline constexpr ExactShape kExact;
inline constexpr UnwrittenShape kUnwritten;
inline constexpr ColumnsShape kAsColumns;
inline constexpr OwnColumnsShape kAsOwnColumns;
template <class Enum>
inline constexpr KeyedShape<Enum> kKeyedBy;

// ---- walking ------------------------------------------------------------------------------------

namespace detail {

template <class Rule>
inline constexpr bool kIsShape =
    !std::is_same_v<Rule, Presence> && !std::is_same_v<Rule, const char*>;

template <class... Rules>
struct ShapeOf {
  using Type = PlainShape;
};
template <class First, class... Rest>
struct ShapeOf<First, Rest...> {
  using Type = std::conditional_t<kIsShape<First>, First, typename ShapeOf<Rest...>::Type>;
};

struct AnyVisit {
  template <class... Rules>
  void operator()(const Rules&...) const {}
};

}  // namespace detail

/// One row of a struct's fields.
template <class MemberPointer, class ShapeTag>
struct Field {
  using Shape = ShapeTag;
  /// False: it is computed.
  static constexpr bool kIsStored = std::is_member_object_pointer_v<MemberPointer>;

  const char* name;
  MemberPointer member;
  Presence presence = Presence::always;
  const char* description = "";

  template <class Struct>
  decltype(auto) of(Struct& value) const {
    if constexpr (kIsStored) {
      return (value.*member);
    } else {
      return member(value);
    }
  }

  void apply(Presence rule) { presence = rule; }
  void apply(const char* rule) { description = rule; }
  template <class Tag>
  void apply(const Tag& /*shape*/) {}
};

template <class Struct>
concept HasFields = requires {
  Struct::fields(detail::AnyVisit());
};

/// Calls `f` with the Field of each member, in order.
template <HasFields Struct, class F>
void each_field(F&& f) {
  Struct::fields([&f](const char* name, auto member, auto... rules) {
    Field<decltype(member), typename detail::ShapeOf<decltype(rules)...>::Type> field{name, member};
    (field.apply(rules), ...);
    f(field);
  });
}

/// Messages between processes carry every member that is stored.
template <class Archive, class Struct>
requires HasFields<std::remove_const_t<Struct>>
void fields(Archive& archive, Struct& value) {
  each_field<std::remove_const_t<Struct>>([&](const auto& field) {
    if constexpr (std::remove_cvref_t<decltype(field)>::kIsStored) archive(value.*field.member);
  });
}

// ---- words: the closed sets of values that JSON spells
// ----------------------------------------------

constexpr std::size_t word_count(Category /*of*/) { return kCategoryCount; }

/// An enum whose values from 0 have each a name_of(), word_count() of them.
template <class Enum>
concept HasWords = std::is_enum_v<Enum> && requires(Enum value) {
  { word_count(value) } -> std::convertible_to<std::size_t>;
  name_of(value);
};

}  // namespace ohm
