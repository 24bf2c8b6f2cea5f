// The opening comment of a scenario, as ohm explain prints it.
//
//   -- Symptom: "memory grows a little with every iteration, until CUDA out of memory."
//   --
//   -- A loss is a tensor, and … keeps alive what every step's graph keeps alive. What to do: add
//   -- up numbers.
//   --
//   -- Chapter: leaks
//   -- PyTorch:
//   --     total_loss += loss.item()
//   -- Keras: metrics are numbers already.
//
// All parts are optional, in any order; what begins with none of the words explains the cause.
#pragma once

#include <string>
#include <string_view>

namespace ohm::engine {

struct OpeningComment {
  std::string symptom;     ///< without quotation marks around all of it
  std::string cause;       ///< paragraphs, separated by line ends
  std::string what_to_do;  ///< from "What to do:" to the end of that paragraph
  std::string chapter;     ///< of the handout: a word
  std::string pytorch;     ///< what to write; lines as they are
  std::string keras;       ///< what the same thing is called in TensorFlow/Keras
};

/// Of the comment lines that the source begins with.
OpeningComment opening_comment(std::string_view source);

}  // namespace ohm::engine
