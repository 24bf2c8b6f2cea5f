// Remains: what objects that go leave to be let go of.
//
// Note [Modules in modules]
// A module that goes takes its children along, and they theirs. Were each a member of the one
// before it, that would take stack for every level. Instead the outermost one lets go of what is
// below it piece by piece: a module that goes meanwhile adds its own pieces on top, so that
// everything goes in the order in which nested destructors would let it go.
#pragma once

#include <memory>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace ohm::nn {

/// Pieces: movable types without a value that throws when it is moved.
template <class... Pieces>
class Remains {
 public:
  /// Where the object `going` leaves its pieces: with the loop that lets go of it at this moment,
  /// or in `own` when something else does.
  static Remains& of(const void* going, Remains& own) {
    if (dropped != going) return own;
    dropped = nullptr;
    return *dropping;
  }

  /// A piece that there is no memory to keep goes at once.
  template <class Piece>
  void add(Piece piece) noexcept {
    std::variant<Pieces...> kept(std::move(piece));
    try {
      pieces_.push_back(std::move(kept));
    } catch (...) {
      static_cast<void>(std::variant<Pieces...>(std::move(kept)));
    }
  }

  /// Lets go of everything, and of what is added meanwhile; the last piece first.
  void drop() noexcept {
    while (!pieces_.empty()) {
      const auto before = std::pair(dropped, dropping);
      {
        const std::variant<Pieces...> piece = std::move(pieces_.back());
        pieces_.pop_back();
        dropped = nullptr;
        (note_object<Pieces>(piece), ...);
        dropping = this;
      }
      std::tie(dropped, dropping) = before;
    }
  }

 private:
  // Where the piece is of this type. Not std::visit(), which may throw.
  template <class Piece>
  static void note_object(const std::variant<Pieces...>& piece) noexcept {
    if (const auto* const one = std::get_if<Piece>(&piece)) dropped = object_of(*one);
  }
  template <class T>
  static const void* object_of(const std::shared_ptr<T>& piece) {
    return piece.get();
  }
  template <class T>
  static const void* object_of(const std::vector<T>& /*piece*/) {
    return nullptr;
  }

  static inline thread_local const void* dropped = nullptr;  ///< what a loop lets go of now
  static inline thread_local Remains* dropping = nullptr;    ///< that loop's

  std::vector<std::variant<Pieces...>> pieces_;
};

}  // namespace ohm::nn
