#include <algorithm>
#include <array>
#include <stdexcept>

#include "harness/cli/completion.h"

namespace ohm::cli {

namespace {

constexpr std::string_view kBash = R"sh(# Completion of ohm for bash.
_ohm() {
  local line offered word=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  offered=$("${COMP_WORDS[0]}" completion -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null) || return
  [[ $word != = ]] || word=""
  while IFS= read -r line; do
    case $line in
      :files)
        type compopt &>/dev/null && compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word") ;;
      ":program "*)
        if type _command_offset &>/dev/null; then
          _command_offset "${line#:program }"
        else
          while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -cf -- "$word")
        fi ;;
      ?*) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done <<<"$offered"
}
complete -F _ohm ohm
)sh";

constexpr std::string_view kZsh = R"sh(#compdef ohm
# Completion of ohm for zsh.
_ohm() {
  local line files=0
  local -a offers
  for line in "${(@f)$("${words[1]}" completion -- "${(@)words[1,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) files=1 ;;
      ':program '*)
        local -i first=${line#:program }
        words=("${(@)words[first+1,-1]}")
        (( CURRENT -= first ))
        _normal
        return ;;
      *$'\t'*) offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) offers+=("${line//:/\\:}") ;;
    esac
  done
  (( ${#offers} )) && _describe ohm offers
  (( files )) && _files
}
if [[ ${funcstack[1]} == _ohm ]]; then
  _ohm "$@"
else
  compdef _ohm ohm
fi
)sh";

constexpr std::string_view kFish = R"sh(# Completion of ohm for fish.
function __ohm_offers
  set -l typed (commandline -opc) (commandline -ct)
  for line in ($typed[1] completion -- $typed 2>/dev/null)
    switch $line
      case :files
        __fish_complete_path (commandline -ct)
      case ':program *'
        set -l first (math (string replace ':program ' '' -- $line) + 1)
        complete -C "$typed[$first..-1]"
      case '*'
        echo $line
    end
  end
end
complete -c ohm -f -a '(__ohm_offers)'
)sh";

struct Script {
  std::string_view shell;
  std::string_view text;
};

constexpr std::array<Script, 3> kScripts = {{{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}}};

}  // namespace

std::vector<std::string> completed_shells() {
  std::vector<std::string> shells;
  for (const Script& script : kScripts) shells.emplace_back(script.shell);
  return shells;
}

std::string completion_script(std::string_view shell) {
  const auto* const found =
      std::find_if(kScripts.begin(), kScripts.end(),
                   [&](const Script& script) { return script.shell == shell; });
  if (found == kScripts.end()) throw std::invalid_argument("no completion for this shell");
  return std::string(found->text);
}

}  // namespace ohm::cli
