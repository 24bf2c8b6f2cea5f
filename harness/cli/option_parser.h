// OptionParser: the options of one command. CLI11 parses them; its header takes seconds to compile,
// so that only one source of this room and the one that lists the commands have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/cli/described_command.h"

// NOLINTNEXTLINE(readability-identifier-naming): the library's
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ohm::cli {

/// What is wrong about a value, as the user typed it; empty: nothing is.
using OptionCheck = std::function<std::string(const std::string& text)>;

/// A whole number of that range, both ends included.
OptionCheck whole_number(std::uint64_t least, std::uint64_t most);

/// Of the options for which anything but files is offered.
using CompletedValues = std::map<const CLI::Option*, CompletedValue>;

/// An option that was declared; lives as long as its parser. The setters return it, to go on.
class Option {
 public:
  Option(CLI::Option& option, CompletedValues& completed)
      : option_(&option), completed_(&completed) {}

  /// What the help calls its value.
  Option type_name(const std::string& name) const;
  /// A repeatable option takes one value each time that it is given, not all that follow.
  Option one_value_each() const;
  /// It may be given without a value.
  Option may_lack_value() const;
  /// Values are separated by this, too.
  Option delimiter(char separator) const;
  Option check(OptionCheck check) const;
  /// Not together with that one.
  Option excludes(Option other) const;
  /// What shells offer; files, unless it is set.
  Option completes(Completion kind) const;
  /// Shells offer these words.
  Option offers(std::vector<std::string> words) const;
  /// It has to be one of these words.
  Option one_of(std::vector<std::string> words) const;

 private:
  CLI::Option* option_;
  CompletedValues* completed_;
};

/// A handle: copies declare options of the same command. `names` are as in "-o,--output"; without
/// dashes it is an argument. Values are written when the command line is parsed, and have to live
/// until then.
class OptionParser {
 public:
  /// `completed` gets what Option::completes() and offers() say.
  OptionParser(CLI::App& app, CompletedValues& completed) : app_(&app), completed_(&completed) {}

  /// Value: a number, a string, an optional of one, a vector of strings; option_parser.cpp lists
  /// them.
  template <class Value>
  Option add_option(const std::string& names, Value& value, const std::string& help) const;
  /// `read` gets the value, and may throw UsageError.
  Option add_option_function(const std::string& names,
                             std::function<void(const std::string& text)> read,
                             const std::string& help) const;
  /// Repeatable: `read` gets all values.
  Option add_option_function(const std::string& names,
                             std::function<void(const std::vector<std::string>& texts)> read,
                             const std::string& help) const;
  Option add_flag(const std::string& names, bool& value, const std::string& help) const;

  /// Below the options in the command's help.
  void set_footer(const std::string& text) const;

  /// How often the option was given.
  std::size_t count(const std::string& name) const;
  /// All options, in the order of the help.
  std::vector<DescribedOption> described() const;
  /// The names of all options that were given.
  std::vector<std::string> given() const;

 private:
  CLI::App* app_;
  CompletedValues* completed_;
};

}  // namespace ohm::cli
