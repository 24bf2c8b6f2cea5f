#include "harness/exec/python_protocol.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>
#include <string>
#include <vector>

#include "allocator_shim/base/whole_file.h"
#include "tests/support/checkout_paths.h"

namespace ohm::engine::python {
namespace {

using nlohmann::json;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsSupersetOf;

std::string checkout_file(const std::string& path) {
  return read_whole_file(std::string(OHM_SOURCE_DIR) + "/" + path);
}

/// The first group of every match.
std::vector<std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

json ends(const json& rows) { return message_of({{"ends", rows}}); }

std::string refusal_of(std::string_view name, const json& message) {
  try {
    check_message(name, message);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "accepted";
}

const std::string kVariablePattern = "[A-Z_]+_VARIABLE = \"([A-Z_]+)\"";

TEST(PythonProtocol, IsTheOneOfThePythonFiles) {
  const std::string twin = checkout_file("harness/record/ohm_protocol.py");
  EXPECT_THAT(found_in(twin, "\nVERSION = (\\d+)\n"),
              ElementsAreArray({std::to_string(kProtocolVersion)}));
  EXPECT_THAT(found_in(twin, kVariablePattern), ElementsAreArray(kVariables));
  EXPECT_THAT(twin, HasSubstr(fmt::format("\nMESSAGES = \"\"\"{}\"\"\"\n", kMessages)));
}

TEST(PythonProtocol, NamesTheVariablesOfThePackage) {
  const std::string package = checkout_file("python/ohm/_testing/virtual_gpu.py");
  std::vector<std::string> known(kVariables.begin(), kVariables.end());
  known.emplace_back(interpose::kGpusVariable);
  const std::vector<std::string> named = found_in(package, kVariablePattern);
  EXPECT_FALSE(named.empty());
  EXPECT_THAT(known, IsSupersetOf(named));
}

TEST(PythonProtocol, TakesAMessageOfItsVersion) {
  EXPECT_EQ("accepted",
            refusal_of("ends", ends({{{"fault", 0}, {"status", 1}, {"overdue", false}}})));
  EXPECT_EQ("accepted", refusal_of("ends", ends(nullptr)));
}

TEST(PythonProtocol, RefusesAnotherVersion) {
  json message = ends(json::array());
  message["protocol"] = kProtocolVersion + 1;
  EXPECT_EQ(
      fmt::format("ohm speaks protocol {}, and its Python files in the program speak {}: they "
                  "are of another installation; start the command without its PYTHONPATH",
                  kProtocolVersion, kProtocolVersion + 1),
      refusal_of("ends", message));
  message.erase("protocol");
  EXPECT_THAT(refusal_of("ends", message), HasSubstr("speak 0"));
}

TEST(PythonProtocol, RefusesAMessageThatLacksAMember) {
  EXPECT_EQ("the message \"ends\" of the Python program has no \"ends\"",
            refusal_of("ends", message_of(json::object())));
  EXPECT_EQ("the message \"end\" of the Python program has no \"overdue\"",
            refusal_of("ends", ends({{{"fault", 0}, {"status", 1}}})));
}

}  // namespace
}  // namespace ohm::engine::python
