#!/usr/bin/env bash
# Sees to what building, running and testing TAS needs, and says what it installs before
# it does. Running it again installs nothing that is there. With --tests it also brings
# what only the tests need.
#
# Needed beforehand: Go, Node.js (20 or later) with npm, and git.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '  %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

for tool in go node npm git; do
  have "$tool" || fail "$tool is missing. Install Go (https://go.dev/dl), Node.js 20 or later (https://nodejs.org) and git, then run this again."
done
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' || fail "Node.js $(node --version) is too old: 20 or later is needed."

# apt runs as root, or through sudo where that asks no question.
apt_updated=
apt() {
  local as=()
  if [ "$(id -u)" != 0 ]; then
    if have sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then as=(sudo); else return 1; fi
  fi
  if [ -z "$apt_updated" ]; then
    say "apt-get update (to know Debian's packages)"
    DEBIAN_FRONTEND=noninteractive "${as[@]}" apt-get update -qq >/dev/null </dev/null || return 1
    apt_updated=1
  fi
  say "apt-get install $* (Debian packages)"
  DEBIAN_FRONTEND=noninteractive "${as[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null </dev/null
}

# The strongest isolation for test code. Without it the service says so on every run.
if [ "$(uname)" = Linux ] && ! have bwrap; then
  if have apt-get && apt bubblewrap; then :; else
    say "bubblewrap is not installed: test code will be less isolated. Install it with your system's package manager."
  fi
fi

# A browser: Playwright's own where its download works, otherwise Debian's.
browsers="$PWD/.tas/browsers"
works() { [ -x "$1" ] && "$1" --version >/dev/null 2>&1; }
playwright_browser() {
  local found
  for found in "$browsers"/chromium_headless_shell-*/*/*headless*shell*; do
    if works "$found"; then return 0; fi
  done
  return 1
}
debian_browser() { works /usr/lib/chromium/chromium-headless-shell; }

packages() { # an npm package of ours, by its lockfile
  local dir="$1" stamp="$1/node_modules/.installed"
  if [ ! -f "$stamp" ] || [ "$dir/package-lock.json" -nt "$stamp" ]; then
    say "npm ci in $dir (its npm packages)"
    (cd "$dir" && npm ci --no-audit --no-fund --silent </dev/null)
    touch "$stamp"
  fi
}

if ! playwright_browser && ! debian_browser; then
  go run ./demo/cmd/demo prepare
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 packages demo/tests
  say "playwright install chromium (Playwright's own browser, into .tas/browsers)"
  if (cd demo/tests && PLAYWRIGHT_BROWSERS_PATH="$browsers" PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT=15000 \
      npx --no-install playwright install --only-shell chromium </dev/null >"$PWD/.browser-download.log" 2>&1) && playwright_browser; then
    rm -f demo/tests/.browser-download.log
  else
    rm -f demo/tests/.browser-download.log
    say "Playwright's own browser is not to be had here."
    have apt-get && apt chromium chromium-headless-shell || true
    debian_browser || fail "there is no browser. Install one: (cd demo/tests && PLAYWRIGHT_BROWSERS_PATH=$browsers npx playwright install --with-deps chromium)"
  fi
fi

# Tests start a PostgreSQL of their own; only its programs are needed.
postgres_programs() {
  have postgres && have initdb && return 0
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || compgen -G '/opt/homebrew/opt/postgresql*/bin/initdb' >/dev/null
}

# GitHub's published description of its API, to which the tests' double of it is held: one
# file of a large package.
openapi="$PWD/.tas/openapi"
openapi_version=23.0.2
github_description() {
  local at="$openapi/github-$openapi_version.json" tmp
  [ -s "$at" ] && return 0
  say "npm pack @octokit/openapi@$openapi_version (GitHub's description of its API, 29 MB, into .tas/openapi)"
  mkdir -p "$openapi"
  tmp=$(mktemp -d "$openapi/new.XXXXXX")
  if (cd "$tmp" && npm pack --silent "@octokit/openapi@$openapi_version" </dev/null >/dev/null &&
      tar -xzf ./*.tgz package/generated/api.github.com.json && mv package/generated/api.github.com.json "$at"); then
    rm -rf "$tmp"
  else
    rm -rf "$tmp"
    fail "GitHub's description of its API is not to be had from the npm registry."
  fi
}

if [ "${1:-}" = --tests ]; then
  packages runner
  github_description
  if ! postgres_programs; then
    { have apt-get && apt postgresql && postgres_programs; } || fail "PostgreSQL's programs are missing: install them with your system's package manager (macOS: brew install postgresql)."
  fi
fi
