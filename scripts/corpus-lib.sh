# Shared by the corpus scripts (sourced): where the corpus lives, Debian's source packages, wllvm.
# Nothing of the system is changed: apt gets its own source list and index, wllvm its own venv.

set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)

# The corpus directory: the argument, else the user's cache, else the (ignored) target directory.
corpus_dir() {
  if [ -n "${1:-}" ]; then
    dir=$1
  elif [ -n "${XDG_CACHE_HOME:-}" ]; then
    dir=$XDG_CACHE_HOME/p3-ir
  else
    dir=$repository/target/corpus
  fi
  mkdir -p "$dir"
  (cd "$dir" && pwd)
}

die() {
  echo "$(basename "$0"): $*" >&2
  exit 2
}

# need COMMAND=PACKAGE...: stops, naming the packages of all missing commands.
need() {
  missing=
  for pair; do
    command -v "${pair%%=*}" >/dev/null || missing="$missing ${pair#*=}"
  done
  [ -z "$missing" ] || die "missing packages: apt-get install$missing"
}

# apt_private ARGS...: apt-get with deb-src lines of its own.
apt_private() {
  apt=$corpus/apt
  apt-get -q \
    -o Dir::Etc::sourcelist="$apt/source.sources" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$apt/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
    -o APT::Sandbox::User=root "$@"
}

# source_package PACKAGE: Debian's source of PACKAGE, patches applied, in $corpus/PACKAGE/source; prints that path.
source_package() {
  package=$1
  tree=$corpus/$package/source
  if [ ! -e "$tree" ]; then
    if [ ! -e "$corpus/apt/updated" ]; then
      mkdir -p "$corpus/apt/lists/partial"
      cat >"$corpus/apt/source.sources" <<EOF
Types: deb-src
URIs: http://deb.debian.org/debian
Suites: $(. /etc/os-release && echo "$VERSION_CODENAME")
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
      apt_private update >&2
      touch "$corpus/apt/updated"
    fi
    rm -rf "$corpus/$package/download"
    mkdir -p "$corpus/$package/download"
    (cd "$corpus/$package/download" && apt_private --only-source source "$package" >&2)
    mv "$corpus/$package/download/$package"-*/ "$tree"
  fi
  echo "$tree"
}

# use_wllvm: compilers that leave bitcode behind on PATH (wllvm), driving clang-16.
use_wllvm() {
  if [ ! -x "$corpus/venv/bin/wllvm" ]; then
    python3 -m venv "$corpus/venv"
    "$corpus/venv/bin/pip" -q install --disable-pip-version-check wllvm==1.3.1 >&2
  fi
  PATH=$corpus/venv/bin:$PATH
  LLVM_COMPILER=clang
  LLVM_COMPILER_PATH=$(llvm-config-16 --bindir)
  export PATH LLVM_COMPILER LLVM_COMPILER_PATH
}

# use_p3_ir: p3_ir is $P3_IR, or a release build of this repository.
use_p3_ir() {
  p3_ir=${P3_IR:-}
  if [ -z "$p3_ir" ]; then
    (cd "$repository" && cargo build -q --release) || exit 2
    p3_ir=$repository/target/release/p3-ir
  fi
  p3_ir=$(realpath "$p3_ir")
}
