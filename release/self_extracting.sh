#!/bin/sh
# service @VERSION@ for @TITLE@: this script, and behind it the program as a compressed archive. The first
# run unpacks it into a folder of the cache; each run starts it from there. See docs/platforms.md.
hash=@HASH@
offset=@OFFSET@
size=@SIZE@

newline='
'

fail() {
  echo "error: $1" >&2
  exit 1
}

cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
case $cache in
  /*) ;;
  '') fail "HOME is not set. Set it, or XDG_CACHE_HOME, to a folder that the program can unpack into" ;;
  *) fail "Invalid folder for the program: $cache. Set XDG_CACHE_HOME to an absolute path" ;;
esac
base=$cache/service
name=$(printf %.16s "$hash")
folder=$base/$name
elsewhere="set XDG_CACHE_HOME to a folder of your own"

# Whether the program is there, whole and as it was verified, in folders that nobody else can write to.
is_ready() {
  [ -f "$folder/verified" ] && is_own "$base" && is_own "$folder" || return 1
  odd=$(cd "$base" && find . "$name" -name . -prune \( -perm -020 -o -perm -002 \) -print -o \
    ! -name . \( -newer "$name/verified" -o -perm -020 -o -perm -002 \) -print) || return 1
  [ -z "$odd" ]
}

is_own() {
  [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]
}

# What somebody else made, or can write to, is neither run nor changed.
refuse_foreign() {
  [ ! -L "$1" ] || fail "$1 is a link. Remove it, or $elsewhere"
  [ -d "$1" ] || fail "$1 isn't a folder. Remove it, or $elsewhere"
  [ -O "$1" ] || fail "$1 belongs to another user. Remove it, or $elsewhere"
  [ -z "$(find "$1" -prune \( -perm -020 -o -perm -002 \))" ] ||
    fail "Other users can write to $1. Run chmod go-w on it if its content is yours, or $elsewhere"
}

exit_on_signals() {
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# In a process of its own, so that its mask and its traps end with it.
unpack() (
  for program in find gzip mkdir mktemp rm tail tar uname wc; do
    command -v "$program" >/dev/null || fail "$program is not installed. Unpacking the program needs it"
  done
  system=$(uname -sm)
  [ "$system" = "@UNAME@" ] ||
    fail "This file is for @TITLE@, and this machine is $system. Download the file for your machine"
  [ "$(wc -c <"$0")" -eq "$size" ] ||
    fail "$0 is damaged: it has $(($(wc -c <"$0"))) bytes instead of $size. Download it again"
  umask 077
  mkdir -p "$base" 2>/dev/null || fail "Can't make the folder $base. Make it writable, or $elsewhere"
  refuse_foreign "$base"
  if [ -e "$folder" ] || [ -L "$folder" ]; then refuse_foreign "$folder"; fi
  unpacked=$(mktemp -d "$base/.unpacking-XXXXXX" 2>/dev/null) ||
    fail "Can't write to $base. Make it writable, free some space there, or $elsewhere"
  trap 'rm -rf "$unpacked"' EXIT
  exit_on_signals
  said=$(export LC_ALL=C; { tail -c "+$offset" "$0" | gzip -dc | tar -xf - -C "$unpacked"; } 2>&1) || case $said in
    *'No space'* | *uota*) fail "Not enough space in $base. Free @NEEDED@ MB there, or $elsewhere" ;;
    *)
      said=${said#"$newline"}
      fail "Can't unpack $0 into $base (${said%%"$newline"*}). Download it again, or $elsewhere"
      ;;
  esac
  "$unpacked/deno" run @SETTLE_FLAGS@ "$unpacked/@SETTLE_MODULE@" \
    "$unpacked" "$folder" "$0" "$offset" "$hash"
  case $? in
    0) ;;
    126) fail "Programs can't be run in $base. Mount it without noexec, or $elsewhere" ;;
    127) fail "This system can't run the program, which needs the GNU C library (glibc)" ;;
    *) exit 1 ;;
  esac
)

# Where Deno keeps what it derives from the sources.
export DENO_DIR="${DENO_DIR:-$base/deno}"
if ! is_ready; then
  exit_on_signals
  unpack || exit
  trap - HUP INT TERM
fi
@SAY_TYPED_AS@
case $0 in /*) SERVICE_EXECUTABLE=$0 ;; *) SERVICE_EXECUTABLE=$PWD/$0 ;; esac
export SERVICE_EXECUTABLE
exec "$folder/deno" @ARGS@ "$@"
exit
