// A command line with a number in it that can be varied.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ohm::engine {

class VariedCommand {
 public:
  /// Where `name` stands in the words, the first that there is of: `{name}` in any of them,
  /// `--name VALUE` or `--name=VALUE`, `name=VALUE`; else the environment variable of this name,
  /// where it is set. Throws std::invalid_argument that says how to write it.
  VariedCommand(std::vector<std::string> words, const std::string& name);

  std::vector<std::string> words_at(std::int64_t value) const;
  /// The variable that is set instead; empty: none.
  const std::string& variable() const { return variable_; }

 private:
  /// Text before and after the value, in a word.
  struct Place {
    std::size_t word;
    std::size_t begin;
    std::size_t end;
  };

  void find_placeholders(const std::string& name);
  void find_option(const std::string& name);
  void find_assignment(const std::string& name);

  std::vector<std::string> words_;
  std::vector<Place> places_;  ///< those of one word from its end to its beginning
  std::string variable_;
};

}  // namespace ohm::engine
