#include "harness/fit/varied_command.h"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace ohm::engine {

VariedCommand::VariedCommand(std::vector<std::string> words, const std::string& name)
    : words_(std::move(words)) {
  find_placeholders(name);
  if (places_.empty()) find_option(name);
  if (places_.empty()) find_assignment(name);
  if (!places_.empty()) return;
  if (std::getenv(name.c_str()) == nullptr) {
    throw std::invalid_argument(
        fmt::format("the command has no --{0}, no {0}=…, and there is no variable ${0}: write "
                    "{{{0}}} where the "
                    "value belongs",
                    name));
  }
  variable_ = name;
}

void VariedCommand::find_placeholders(const std::string& name) {
  const std::string placeholder = "{" + name + "}";
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::size_t at = words_[i].rfind(placeholder); at != std::string::npos;
         at = at == 0 ? std::string::npos : words_[i].rfind(placeholder, at - 1)) {
      places_.push_back({i, at, at + placeholder.size()});
    }
  }
}

void VariedCommand::find_option(const std::string& name) {
  const std::string option = "--" + name;
  for (std::size_t i = 1; i < words_.size(); ++i) {
    if (words_[i] == option && i + 1 < words_.size()) {
      places_.push_back({i + 1, 0, words_[i + 1].size()});
    } else if (words_[i].starts_with(option + "=")) {
      places_.push_back({i, option.size() + 1, words_[i].size()});
    }
  }
}

void VariedCommand::find_assignment(const std::string& name) {
  for (std::size_t i = 1; i < words_.size(); ++i) {
    if (words_[i].starts_with(name + "=")) {
      places_.push_back({i, name.size() + 1, words_[i].size()});
    }
  }
}

std::vector<std::string> VariedCommand::words_at(std::int64_t value) const {
  std::vector<std::string> words = words_;
  for (const Place& place : places_) {
    words[place.word].replace(place.begin, place.end - place.begin, std::to_string(value));
  }
  return words;
}

}  // namespace ohm::engine
