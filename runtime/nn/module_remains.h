// Remains: what modules that go leave to be let go of.
//
// Note [Modules in modules]
// A module that goes takes its children along, and they theirs. Were each a member of the one
// before it, that would take stack for every level. Instead the outermost one lets go of what is
// below it piece by piece: a module that goes meanwhile adds its own pieces on top, so that
// everything goes in the order in which nested destructors would let it go.
#pragma once

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/nn/module.h"

namespace ohm::nn {

class Remains {
 public:
  /// Where `module`, which goes, leaves its pieces: with the loop that lets go of it at this
  /// moment, or in `own` when something else does.
  static Remains& of(const Module& module, Remains& own);

  void add(ModulePtr module) {
    if (module) keep(std::move(module));
  }
  void add(std::vector<NamedAttribute> attributes) {
    if (!attributes.empty()) keep(std::move(attributes));
  }
  void add(std::shared_ptr<ForwardHooks> hooks) {
    if (hooks) keep(std::move(hooks));
  }
  void add(std::shared_ptr<CallEnvelope> envelope) {
    if (envelope) keep(std::move(envelope));
  }

  /// Lets go of everything, and of what is added meanwhile; the last piece first.
  void drop();

 private:
  using Piece = std::variant<ModulePtr, std::vector<NamedAttribute>, std::shared_ptr<ForwardHooks>,
                             std::shared_ptr<CallEnvelope>>;

  /// A piece that there is no memory to keep goes at once.
  void keep(Piece piece) noexcept;

  static thread_local const Module* dropped;  ///< the module that a loop lets go of now
  static thread_local Remains* dropping;      ///< that loop's

  std::vector<Piece> pieces_;
};

}  // namespace ohm::nn
