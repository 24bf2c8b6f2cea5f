// What a shell offers when the user presses Tab, and the scripts that ask ohm for it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/described_command.h"

namespace ohm::cli {

struct Offer {
  std::string text;
  std::string help;  ///< one line; may be empty
};

/// What may take the place of the last word.
struct Offers {
  std::vector<Offer> words;
  bool files = false;  ///< files, too
  /// A program begins at this word, counted from 0: what follows is completed as its own command
  /// line; 0: there is none.
  std::size_t program = 0;
};

/// Of a command line whose last word is being typed, maybe empty. `words` begin with the program's
/// name. "=" may be a word of its own, as bash splits them.
Offers offers_for(std::span<const DescribedCommand> commands,
                  const std::vector<std::string>& words);

/// One offer in a line, a tab before its help; then ":files" or ":program N" where they apply.
std::string offers_text(const Offers& offers);

/// The shells that completion_script() knows.
std::vector<std::string> completed_shells();
/// The script for a shell. Throws std::invalid_argument for another one.
std::string completion_script(std::string_view shell);

}  // namespace ohm::cli
