#include "harness/process/git_revision.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "harness/process/shell_quote.h"

namespace ohm::engine {

namespace fs = std::filesystem;

namespace {

/// What a command printed, both streams; throws with it where the command failed.
std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw RevisionError("cannot start a shell");
  std::string out;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  const int status = ::pclose(pipe);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  if (status != 0) throw RevisionError(out.empty() ? "git failed" : out);
  return out;
}

std::string temporary_folder() {
  std::string path = (fs::temp_directory_path() / "ohm.XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) throw RevisionError("cannot make a folder in " + path);
  return path;
}

/// Where the branches of HEAD and of the commit part; histories that share nothing: the commit.
std::string merge_base(const std::string& git, const std::string& commit) {
  try {
    return output_of(git + " merge-base HEAD " + commit);
  } catch (const RevisionError&) {
    return commit;
  }
}

/// The tree that the folder is at the revision, as git names it; empty: it is not there.
std::string tree_of_folder(const std::string& git, const std::string& base) {
  const std::string prefix = output_of(git + " rev-parse --show-prefix");  // "a/b/", or nothing
  const std::string tree = base + ":" + prefix;
  if (prefix.empty()) return tree;
  try {
    output_of(git + " rev-parse --verify --quiet --end-of-options " + shell_quoted(tree));
  } catch (const RevisionError&) {
    return {};
  }
  return tree;
}

}  // namespace

RevisionFolder::RevisionFolder(const std::string& folder, const std::string& revision) {
  const std::string git = "git -C " + shell_quoted(folder.empty() ? "." : folder);
  // A revision that begins with a dash would be an option.
  const std::string commit = output_of(git + " rev-parse --verify --end-of-options " +
                                       shell_quoted(revision + "^{commit}"));
  // Later commits of that branch are not changes of this one.
  const std::string base = merge_base(git, commit);
  const std::string tree = tree_of_folder(git, base);
  const std::string top = output_of(git + " rev-parse --show-toplevel");
  path_ = temporary_folder();
  if (tree.empty()) return;
  try {
    // From a folder below the top, archive would take what the tree has under that folder's name.
    output_of(fmt::format("git -C {} archive --format=tar {} | tar -x -C {}", shell_quoted(top),
                          shell_quoted(tree), shell_quoted(path_)));
  } catch (const RevisionError&) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    throw;
  }
}

RevisionFolder::~RevisionFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ohm::engine
