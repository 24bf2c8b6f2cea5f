#include "harness/cli/option_parser.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

namespace ohm::cli {

namespace {

OptionCheck check_of(CLI::Validator validator) {
  return [validator = std::move(validator)](const std::string& text) { return validator(text); };
}

DescribedOption description_of(const CLI::Option& option) {
  DescribedOption described;
  for (const std::string& letter : option.get_snames()) described.flags.push_back("-" + letter);
  for (const std::string& word : option.get_lnames()) described.flags.push_back("--" + word);
  const bool takes_value = option.get_items_expected_max() > 0;
  if (described.is_argument()) {
    described.argument = option.get_name();
  } else if (takes_value) {
    described.value = option.get_type_name().empty() ? "VALUE" : option.get_type_name();
  }
  described.help = option.get_description();
  described.may_lack_value = takes_value && option.get_items_expected_min() == 0;
  described.is_repeatable = option.get_items_expected_max() > 1;
  return described;
}

}  // namespace

OptionCheck whole_number(std::uint64_t least, std::uint64_t most) {
  return check_of(CLI::Range(least, most));
}

Option Option::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Option Option::one_value_each() const {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::may_lack_value() const {
  option_->expected(0, 1);
  return *this;
}

Option Option::delimiter(char separator) const {
  option_->delimiter(separator);
  return *this;
}

Option Option::check(OptionCheck check) const {
  option_->check(
      CLI::Validator([check = std::move(check)](std::string& text) { return check(text); }, ""));
  return *this;
}

Option Option::excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::completes(Completion kind) const {
  (*completed_)[option_].kind = kind;
  return *this;
}

Option Option::offers(std::vector<std::string> words) const {
  (*completed_)[option_] = {Completion::words, std::move(words)};
  return *this;
}

Option Option::one_of(std::vector<std::string> words) const {
  option_->check(CLI::IsMember(words));
  return offers(std::move(words));
}

template <class Value>
Option OptionParser::add_option(const std::string& names, Value& value,
                                const std::string& help) const {
  return {*app_->add_option(names, value, help), *completed_};
}

using Text = const std::string&;
template Option OptionParser::add_option(Text, int&, Text) const;
template Option OptionParser::add_option(Text, std::uint64_t&, Text) const;
template Option OptionParser::add_option(Text, double&, Text) const;
template Option OptionParser::add_option(Text, std::string&, Text) const;
template Option OptionParser::add_option(Text, std::vector<std::string>&, Text) const;
template Option OptionParser::add_option(Text, std::optional<int>&, Text) const;
template Option OptionParser::add_option(Text, std::optional<double>&, Text) const;
template Option OptionParser::add_option(Text, std::optional<std::string>&, Text) const;

Option OptionParser::add_option_function(const std::string& names,
                                         std::function<void(const std::string&)> read,
                                         const std::string& help) const {
  return {*app_->add_option_function<std::string>(names, read, help), *completed_};
}

Option OptionParser::add_option_function(const std::string& names,
                                         std::function<void(const std::vector<std::string>&)> read,
                                         const std::string& help) const {
  return {*app_->add_option_function<std::vector<std::string>>(names, read, help), *completed_};
}

Option OptionParser::add_flag(const std::string& names, bool& value,
                              const std::string& help) const {
  return {*app_->add_flag(names, value, help), *completed_};
}

void OptionParser::set_footer(const std::string& text) const { app_->footer(text); }

std::size_t OptionParser::count(const std::string& name) const { return app_->count(name); }

std::vector<DescribedOption> OptionParser::described() const {
  std::vector<DescribedOption> all;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    all.push_back(description_of(*option));
    const auto completed = completed_->find(option);
    if (completed != completed_->end()) all.back().completed = completed->second;
  }
  return all;
}

std::vector<std::string> OptionParser::given() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    if (option->count() > 0) names.push_back(option->get_name());
  }
  return names;
}

}  // namespace ohm::cli
