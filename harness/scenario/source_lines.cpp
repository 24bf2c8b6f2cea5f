#include "harness/scenario/source_lines.h"

#include <sstream>

#include "harness/scenario/scenario_program.h"
#include "harness/scenario/source_file.h"

namespace ohm::engine {

namespace {

std::vector<std::string> lines_in(const std::string& source) {
  std::vector<std::string> lines;
  std::istringstream text(source);
  text.exceptions(std::ios::badbit);  // no memory for a line is not an end of the file
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> lines_of(const std::string& file) {
  try {
    return lines_in(read_source_file(file));
  } catch (const ScriptError&) {
    return {};  // gone since it ran: its lines are not shown
  }
}

}  // namespace

SourceLines::SourceLines(const std::string& script, const ScriptSources& sources) {
  files_[script] = lines_in(sources.script);
  for (const auto& [file, text] : sources.modules) files_[file] = lines_in(text);
}

const std::vector<std::string>& SourceLines::of(const std::string& file) {
  const auto known = files_.find(file);
  if (known != files_.end()) return known->second;
  return files_[file] = file.empty() ? std::vector<std::string>() : lines_of(file);
}

std::string SourceLines::text(const std::string& file, int line) {
  const std::vector<std::string>& lines = of(file);
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return "";
  const std::string& whole = lines[static_cast<std::size_t>(line) - 1];
  const std::size_t first = whole.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return whole.substr(first, whole.find_last_not_of(" \t") - first + 1);
}

void SourceLines::fill_in(std::vector<HolderResult>& holders) {
  for (HolderResult& holder : holders) holder.text = text(holder.file, holder.line);
}

}  // namespace ohm::engine
