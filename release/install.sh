#!/bin/sh
# Installs service, a self-hosted agent runtime, or removes it again:
#
#   sh install.sh [--dir FOLDER] [--from URL] [--uninstall]
#
# Downloads the file for this machine, checks its checksum and, with OpenSSL 3, its signature, and puts it
# into ~/.local/bin. Made by the release from release/install.sh.
set -eu

# Where the newest release is, and the key that signs releases; empty for a release that isn't signed.
from='@LATEST_URL@'
public_key='@PUBLIC_KEY@'

usage() {
  cat <<END
Usage: sh install.sh [options]

  --dir FOLDER   Folder for the program; default: ~/.local/bin
  --from URL     A release elsewhere
  --uninstall    Remove the program; keep the home ~/.service
END
}

fail() {
  echo "error: $1" >&2
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# Everything is in a function that the last line calls: half of a script that is piped to sh does nothing.
main() {
  dir= uninstall=
  while [ $# -gt 0 ]; do
    case $1 in
      --dir | --from)
        [ $# -gt 1 ] && [ -n "$2" ] || fail "$1 needs a value"
        if [ "$1" = --dir ]; then dir=$2; else from=$2; fi
        shift
        ;;
      --uninstall) uninstall=yes ;;
      -h | --help) usage && exit ;;
      *) fail "Unknown option $1. See: sh install.sh --help" ;;
    esac
    shift
  done
  [ -n "$dir" ] || dir=${HOME:?"error: HOME is not set. Choose a folder with --dir"}/.local/bin
  case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
  dir=${dir%/}
  if [ -n "$uninstall" ]; then uninstall_program; else install_program; fi
}

# linux-x64 and the like.
platform() {
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=macos ;;
    *) fail "There is no program for $(uname -s). On Windows, download the file yourself" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "There is no program for $(uname -m): expected x86_64 or arm64" ;;
  esac
  # A shell that Rosetta translates.
  [ "$system-$machine" != macos-x64 ] || [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" != 1 ] ||
    machine=arm64
  case $(ldd --version 2>&1) in *musl*) fail "The program needs the GNU C library, and this system has musl" ;; esac
  echo "$system-$machine"
}

# download NAME FILE [shown]
download() {
  if has curl; then
    if [ -n "${3:-}" ] && [ -t 2 ]; then
      curl --fail --location --progress-bar --output "$2" "$from/$1" && return
    else
      said=$(curl --fail --silent --show-error --location --output "$2" "$from/$1" 2>&1) && return
    fi
  elif has wget; then
    said=$(wget --no-verbose --output-document="$2" "$from/$1" 2>&1) && return
  else
    fail "Downloading needs curl or wget"
  fi
  said=$(echo "${said:-}" | tail -n 1)
  fail "Can't download $from/$1${said:+: $said}. Nothing was installed"
}

sha256() {
  if has sha256sum; then sha256sum <"$1" | cut -d ' ' -f 1
  elif has shasum; then shasum -a 256 <"$1" | cut -d ' ' -f 1
  elif has openssl; then openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
  else fail "Checking the download needs sha256sum, shasum or openssl"
  fi
}

# Of SHA256SUMS, with what is at hand. Says what was checked in $checked.
check_signature() {
  if [ -z "$public_key" ]; then
    checked="checksum only: this release isn't signed"
    return
  fi
  case $(openssl version 2>/dev/null) in
    'OpenSSL '[3-9]* | 'OpenSSL '[1-9][0-9]*) ;;
    *)
      checked="checksum only: checking the signature needs OpenSSL 3"
      return
      ;;
  esac
  download SHA256SUMS.sig "$work/SHA256SUMS.sig"
  echo "$public_key" >"$work/key.pem"
  openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$work/SHA256SUMS" \
    -sigfile "$work/SHA256SUMS.sig" >/dev/null 2>&1 ||
    fail "The signature of the release is wrong. Nothing was installed"
  checked="checksum and signature"
}

# Whether a file is this program: a release, or the launcher of a checkout.
is_ours() {
  [ -f "$1" ] && head -n 2 "$1" 2>/dev/null | LC_ALL=C grep -q -e '^# service ' -e '^# Starts service\.'
}

install_program() {
  case $from in
    @*) fail "This script knows no release. Pass one with --from URL" ;;
  esac
  platform=$(platform)
  if [ -e "$dir/service" ] && ! is_ours "$dir/service"; then
    fail "$dir/service exists and isn't this program. Choose another folder with --dir"
  fi
  work=$(mktemp -d) || fail "Can't make a temporary folder"
  program=
  trap 'rm -rf "$work" ${program:+"$program"}' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  download SHA256SUMS "$work/SHA256SUMS"
  check_signature
  line=$(grep -E "^[0-9a-f]{64} [ *]service-[0-9][^ ]*-$platform\$" "$work/SHA256SUMS") ||
    fail "That release has no file for $platform"
  sum=${line%% *} name=${line##*[ *]}
  mkdir -p "$dir" 2>/dev/null || fail "Can't make the folder $dir. Choose another one with --dir"
  program=$(mktemp "$dir/.service.XXXXXX" 2>/dev/null) ||
    fail "Can't write to $dir. Choose another folder with --dir"
  echo "Downloading $name" >&2
  download "$name" "$program" shown
  [ "$(sha256 "$program")" = "$sum" ] ||
    fail "The checksum of $name is wrong: the download was cut off, or somebody changed it. Nothing was installed"
  chmod 755 "$program"
  said=$("$program" --version 2>&1) || fail "The program doesn't start here: ${said#error: }"
  mv -f "$program" "$dir/service"
  program=
  echo "Installed $said in $dir/service (checked: $checked)" >&2
  next_steps
}

# What to type, and how to reach it.
next_steps() {
  typed=$dir/service
  first=$(command -v service || true)
  if [ "$first" = "$typed" ]; then
    typed=service
  else
    case ":$PATH:" in
      *":$dir:"*) echo "On your PATH, service means another program: $first. Put $dir before it with:" >&2 ;;
      *) echo "$dir is not on your PATH. Add it with:" >&2 ;;
    esac
    case ${SHELL:-} in
      */fish) echo "  fish_add_path --move '$dir'" >&2 ;;
      */zsh) add_line .zshrc ;;
      */bash) add_line .bashrc ;;
      *) add_line .profile ;;
    esac
  fi
  cat >&2 <<END
Next:
  $typed onboard     set up a model
  $typed agent       chat in the terminal
  $typed install     run it at login
END
}

add_line() {
  echo "  echo 'export PATH=\"$dir:\$PATH\"' >> ~/$1 && export PATH=\"$dir:\$PATH\"" >&2
}

uninstall_program() {
  program=$dir/service
  [ -e "$program" ] || fail "There is no $program"
  is_ours "$program" || fail "$program isn't this program. Nothing was removed"
  # Stopped first, and no longer started at login.
  "$program" uninstall >/dev/null 2>&1 || true
  "$program" stop >/dev/null 2>&1 || true
  rm -f "$program" "$dir/.service.previous" "$dir/.service.next"
  cache=${XDG_CACHE_HOME:-${HOME:-}/.cache}/service
  [ "$cache" = /.cache/service ] || rm -rf "$cache"
  echo "Removed $program and $cache" >&2
  echo "Kept ${SERVICE_HOME:-${HOME:-}/.service}, with all conversations, keys and settings" >&2
}

main "$@"
