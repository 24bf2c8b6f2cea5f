#include "harness/exec/python_protocol.h"

#include <fmt/format.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ohm::engine::python {

namespace {

using nlohmann::json;

struct Member {
  std::string name;
  bool is_required = true;
  std::string message;  ///< that it is; empty: it is plain
};

Member member_of(std::string word) {
  Member member;
  const std::size_t colon = word.find(':');
  if (colon != std::string::npos) {
    member.message = word.substr(colon + 1);
    word.resize(colon);
  }
  member.is_required = !word.ends_with('?');
  if (!member.is_required) word.pop_back();
  member.name = std::move(word);
  return member;
}

std::map<std::string, std::vector<Member>, std::less<>> parsed_messages() {
  std::map<std::string, std::vector<Member>, std::less<>> messages;
  std::istringstream lines{std::string(kMessages)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name)) continue;
    std::vector<Member>& members = messages[name];
    for (std::string word; words >> word;) members.push_back(member_of(std::move(word)));
  }
  return messages;
}

const std::vector<Member>& members_of(std::string_view name) {
  static const auto kParsed = parsed_messages();
  return kParsed.find(name)->second;
}

void check_members(std::string_view name, const json& message) {
  if (message.is_null()) return;
  if (message.is_array()) {
    for (const json& row : message) check_members(name, row);
    return;
  }
  for (const Member& member : members_of(name)) {
    const auto found = message.find(member.name);
    if (found == message.end()) {
      if (!member.is_required) continue;
      throw ProtocolError(
          fmt::format("the message \"{}\" of the Python program has no \"{}\"", name, member.name));
    }
    if (!member.message.empty()) check_members(member.message, *found);
  }
}

}  // namespace

json message_of(json members) {
  members["protocol"] = kProtocolVersion;
  return members;
}

void check_message(std::string_view name, const json& message) {
  const auto version = message.find("protocol");
  const int spoken =
      version != message.end() && version->is_number_integer() ? version->get<int>() : 0;
  if (spoken != kProtocolVersion) {
    throw ProtocolError(fmt::format(
        "ohm speaks protocol {}, and its Python files in the program speak {}: they are "
        "of another installation; start the command without its PYTHONPATH",
        kProtocolVersion, spoken));
  }
  check_members(name, message);
}

}  // namespace ohm::engine::python
