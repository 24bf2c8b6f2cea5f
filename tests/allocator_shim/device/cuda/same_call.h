// A comparison of two functions: one that ohm declares, and the same that a header declares.
#pragma once

#include <type_traits>

namespace ohm::cuda {

/// Enumerations and handles are integers and pointers on both sides: what counts is how they are
/// passed.
template <class T>
constexpr int kind_of() {
  if (std::is_void_v<T>) return 0;
  if (std::is_pointer_v<T>) return 1;
  return (std::is_integral_v<T> || std::is_enum_v<T>) ? 2 : 3;
}

template <class Ours, class Header>
constexpr bool is_passed_alike() {
  if constexpr (std::is_void_v<Ours> || std::is_void_v<Header>) {
    return std::is_same_v<Ours, Header>;
  } else {
    return sizeof(Ours) == sizeof(Header) && kind_of<Ours>() == kind_of<Header>();
  }
}

template <class Ours, class Header>
struct SameCall : std::false_type {};
template <class OurResult, class... Ours, class HeaderResult, class... Header>
struct SameCall<OurResult (*)(Ours...), HeaderResult (*)(Header...)> {
  static constexpr bool same_parameters() {
    if constexpr (sizeof...(Ours) != sizeof...(Header)) {
      return false;
    } else {
      return (is_passed_alike<Ours, Header>() && ...);
    }
  }
  static constexpr bool value = is_passed_alike<OurResult, HeaderResult>() && same_parameters();
};

}  // namespace ohm::cuda
