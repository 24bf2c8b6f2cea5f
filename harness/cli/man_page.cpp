#include "harness/cli/man_page.h"

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "reports/model/exit_code.h"

namespace ohm::cli {

namespace {

/// Text in which nothing is a request or an escape of roff.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'' || c == '`') {
      out += c == '\'' ? "\\(aq" : "\\(ga";
    } else if (c == '.' && (out.empty() || out.back() == '\n')) {
      out += "\\&.";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", roff(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", roff(text)); }

std::string head(const std::string& page, std::string_view summary) {
  return fmt::format(".TH {} 1 \"\" \"ohm {}\" \"ohm\"\n.SH NAME\n{} \\- {}\n", page, OHM_VERSION,
                     roff(page), roff(summary));
}

/// Lines as they are, in a section.
std::string examples_section(const std::string& examples) {
  return fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", roff(examples));
}

std::string exit_codes_section() {
  std::string out = ".SH EXIT STATUS\n";
  for (const ExitCode& code : kExitCodes) {
    out += fmt::format(".TP\n{}\n{}\n", bold(std::to_string(code.code)), roff(code.meaning));
  }
  return out;
}

std::string option_text(const DescribedOption& option) {
  std::string term;
  for (const std::string& flag : option.flags) {
    term += fmt::format("{}{}", term.empty() ? "" : ", ", bold(flag));
  }
  if (option.is_argument()) term = italic(option.argument);
  if (!option.value.empty()) term += " " + italic(option.value);
  return fmt::format(".TP\n{}\n{}\n", term, roff(option.help));
}

std::string synopsis(const DescribedCommand& command) {
  std::string out =
      fmt::format(".SH SYNOPSIS\n{} {} [{}]", bold("ohm"), bold(command.name), italic("OPTIONS"));
  for (const DescribedOption& option : command.options) {
    if (!option.is_argument()) continue;
    out += fmt::format(" [{}{}]", italic(option.argument), option.is_repeatable ? " ..." : "");
  }
  if (command.starts_program) out += fmt::format(" [{} {} ...]", bold("--"), italic("COMMAND"));
  return out + "\n";
}

}  // namespace

std::string man_page(std::span<const DescribedCommand> commands) {
  std::string out = head("ohm", kSummary);
  out += fmt::format(".SH SYNOPSIS\n{} {} [{}]\n.SH COMMANDS\n", bold("ohm"), italic("COMMAND"),
                     italic("OPTIONS"));
  for (const DescribedCommand& command : commands) {
    out += fmt::format(".TP\n{} (see {}(1))\n{}\n", bold(command.name), bold("ohm-" + command.name),
                       roff(command.help));
  }
  return out + exit_codes_section();
}

std::string man_page(const DescribedCommand& command) {
  std::string out = head("ohm-" + command.name, command.help) + synopsis(command);
  out += examples_section(command.examples);
  out += ".SH OPTIONS\n";
  for (const DescribedOption& option : command.options) out += option_text(option);
  return out + exit_codes_section() + fmt::format(".SH SEE ALSO\n{}(1)\n", bold("ohm"));
}

}  // namespace ohm::cli
