# Sourced by ./ohm, tests/run and .ci/run, which set `root` to the top of the checkout: finds what
# is missing, installs it, configures and builds. All it says goes to stderr.
# shellcheck shell=bash disable=SC2154

readonly kUnavailable=6 # the exit code for "something that is needed is not there"

# ccache: a precompiled header is as good as what it was made from.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}

say() { printf 'ohm: %s\n' "$*" >&2; }

give_up() {
  say "$@"
  exit "$kUnavailable"
}

# missing_packages GROUP...: the packages of these groups that are not there.
missing_packages() {
  local group package sign
  while read -r group package sign; do
    [[ " $* " == *" $group "* ]] || continue
    [[ $sign == c++ ]] && sign=${CXX:-c++} && sign=${sign%% *}
    if [[ $sign == /*\** ]]; then
      compgen -G "$sign" >/dev/null || echo "$package"
    elif [[ $sign == /* ]]; then
      [[ -e $sign ]] || echo "$package"
    else
      type -P "$sign" >/dev/null || echo "$package"
    fi
  done <"$root/tests/setup/packages"
}

# require_packages GROUP...: installs what is missing, or says how to and exits.
require_packages() {
  local missing sudo=()
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  say "missing packages: ${missing[*]}"
  type -P apt-get >/dev/null ||
    give_up "this is not Debian or Ubuntu: please install what these packages contain"
  ((EUID == 0)) || sudo=(sudo)
  local install=(apt-get install -y --no-install-recommends "${missing[@]}")
  if [[ ${OHM_NO_INSTALL:-0} != 0 ]] || ! may_install; then
    give_up "install them with: ${sudo[*]}${sudo:+ }${install[*]}"
  fi
  say "installing them"
  # A source that cannot be reached does not matter as long as the packages are found.
  "${sudo[@]}" apt-get update -qq || true
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" -qq -o DPkg::Lock::Timeout=300 ||
    give_up "could not install them with: ${sudo[*]}${sudo:+ }${install[*]}"
  hash -r
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) || give_up "installed, but still not found: ${missing[*]}"
}

may_install() { ((EUID == 0)) || { type -P sudo >/dev/null && sudo -n true 2>/dev/null; }; }

# set_sanitizer_options: for the tests of the build asan.
set_sanitizer_options() {
  export UBSAN_OPTIONS=print_stacktrace=1
  # Tests watch processes die of signals: those must end them as they would without a sanitizer.
  # Programs are started with a library of ours before the sanitizer's.
  export ASAN_OPTIONS=handle_segv=0:handle_abort=0:verify_asan_link_order=0
}

# has_nvcc: whether CMake will find a compiler of CUDA kernels.
has_nvcc() { type -P nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; }

# uncommitted_sources: those that are being worked on, where this is a checkout; a;b;c.
uncommitted_sources() {
  git -C "$root" diff --name-only HEAD -- '*.cpp' 2>/dev/null | paste -sd';' || true
}

# configure PRESET: runs CMake where ninja would not: the first time, and when the preset, the
# compiler, the place of the checkout, OHM_CUDA_ARCHITECTURES (what kernels are made for) or which
# sources are worked on changed.
configure() {
  local directory=build/$1 tests=OFF now before="" alone
  alone=$(uncommitted_sources)
  [[ $(missing_packages test) ]] || tests=ON
  now="$root $(type -P "${CXX:-c++}") $(type -P ccache || true) tests=$tests"
  now+=" cuda=${OHM_CUDA_ARCHITECTURES:-} alone=$alone"
  [[ -e $directory/configured ]] && before=$(<"$directory/configured")
  [[ $before == "$now" && $directory/configured -nt CMakePresets.json ]] && return
  mkdir -p "$directory"
  local options=(-DOHM_BUILD_TESTS="$tests" -DOHM_COMPILED_ALONE="$alone")
  [[ -z ${OHM_CUDA_ARCHITECTURES:-} ]] ||
    options+=(-DOHM_CUDA_ARCHITECTURES="$OHM_CUDA_ARCHITECTURES")
  if ! cmake --fresh --preset "$1" "${options[@]}" >"$directory/configure.log" 2>&1; then
    cat "$directory/configure.log"
    give_up "CMake could not configure the $1 build"
  fi
  echo "$now" >"$directory/configured"
}

# build PRESET TARGET GROUP...: an up-to-date TARGET, with the packages of these groups installed
# first. One at a time in a checkout. When it returns, build/PRESET/TARGET.built is as old as the
# start of the build: whatever is newer than that file has not been built.
build() (
  preset=$1 target=$2 quiet=()
  shift 2
  exec </dev/null >&2
  cd "$root" || exit
  if ! { mkdir -p build && : >>build/.lock; } 2>/dev/null; then
    give_up "cannot write to $root/build: ohm is built inside its checkout; copy it to a place" \
      "where you may write"
  fi
  exec 9>>build/.lock
  flock -n 9 || { say "waiting for another build in $root" && flock 9; }
  trap 'exit 130' INT
  require_packages build "$@"
  configure "$preset"
  echo "$root" >"build/$preset/$target.building"
  [[ -t 2 ]] || quiet=(-- --quiet)
  say "building $target ($preset)"
  cmake --build "build/$preset" --target "$target" "${quiet[@]}" ||
    give_up "the $preset build failed; what is wrong stands above"
  mv "build/$preset/$target.building" "build/$preset/$target.built"
)
