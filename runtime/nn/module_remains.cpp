#include "runtime/nn/module_remains.h"

#include <tuple>

namespace ohm::nn {

thread_local const Module* Remains::dropped = nullptr;
thread_local Remains* Remains::dropping = nullptr;

Remains& Remains::of(const Module& module, Remains& own) {
  if (dropped != &module) return own;
  dropped = nullptr;
  return *dropping;
}

void Remains::drop() {
  while (!pieces_.empty()) {
    const auto before = std::pair(dropped, dropping);
    {
      const Piece piece = std::move(pieces_.back());
      pieces_.pop_back();
      const auto* const module = std::get_if<ModulePtr>(&piece);
      dropped = module == nullptr ? nullptr : module->get();
      dropping = this;
    }
    std::tie(dropped, dropping) = before;
  }
}

void Remains::keep(Piece piece) noexcept {
  try {
    pieces_.push_back(std::move(piece));
  } catch (...) {
    static_cast<void>(Piece(std::move(piece)));
  }
}

}  // namespace ohm::nn
