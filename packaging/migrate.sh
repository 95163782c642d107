#!/bin/sh
# Moves what an installation under the former names left to where the agent looks for it now:
#
#   /etc/attestore/*                          -> /var/lib/attestore/*
#   agent.yaml, agent-env                     -> config.yaml, env
#   attestore-agent.service.d/*.conf          -> attestore.service.d/*.conf
#
# Then sees to it that the root and its `env`, which systemd reads as root, are root's, and that the keys that sign and the identities
# that open backups are those of attestore-signer.service.
#
# Nothing that exists is ever overwritten: of two files of one name the one that is in its new place wins, and the old one stays
# where it was and is named. Owners, modes and times are kept. Killed at any line, a second run finishes: a file appears in its
# new place whole (a rename), and the old one goes only after that.
#
# usage: migrate [PREFIX]        PREFIX stands before every path
set -eu

prefix=${1:-}
state=$prefix/var/lib/attestore
former=$prefix/etc/attestore
units=$prefix/etc/systemd/system

say() { printf 'attestore: %s\n' "$*" >&2; }

present() { [ -e "$1" ] || [ -L "$1" ]; }

# The name that a file of the old root has in the new one.
new_name() {
  case $1 in
    agent.yaml) echo config.yaml ;;
    agent-env) echo env ;;
    *) echo "$1" ;;
  esac
}

# Whether two files say the same, or two links.
same() {
  if [ -L "$1" ] || [ -L "$2" ]; then
    [ -L "$1" ] && [ -L "$2" ] && [ "$(readlink "$1")" = "$(readlink "$2")" ]
  else
    [ -f "$1" ] && [ -f "$2" ] && cmp -s "$1" "$2"
  fi
}

# move_file OLD NEW: also from one file system to another.
move_file() {
  if present "$2"; then
    if same "$1" "$2"; then
      rm -f "$1"
    else
      say "kept $2; $1 differs from it and was left where it is"
    fi
    return 0
  fi
  part=${2%/*}/.migrating.${2##*/}
  rm -rf "$part"
  cp -pP "$1" "$part"
  [ -L "$part" ] || sync "$part"
  mv -T "$part" "$2"
  sync "${2%/*}"
  rm -f "$1"
}

# move_tree OLD NEW: what is in a directory, and the directory itself once nothing is left in it.
move_tree() (
  if ! present "$2"; then
    part=${2%/*}/.migrating.${2##*/}
    rm -rf "$part"
    mkdir -m 0700 "$part"
    chown --reference="$1" "$part"
    chmod --reference="$1" "$part"
    mv -T "$part" "$2"
  fi
  for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    present "$entry" || continue
    name=${entry##*/}
    case $name in .migrating.*) rm -rf "$entry"; continue ;; esac
    if [ -d "$entry" ] && [ ! -L "$entry" ]; then
      move_tree "$entry" "$2/$name"
    else
      move_file "$entry" "$2/$name"
    fi
  done
  rmdir "$1" 2>/dev/null || true
)

if [ -d "$former" ] && [ ! -L "$former" ]; then
  say "moving $former to $state"
  if ! [ -d "$state" ]; then
    mkdir -p "$(dirname "$state")"
    mkdir -m 0700 "$state"
  fi
  # The configuration comes last: a root that has one is complete.
  for entry in "$former"/* "$former"/.[!.]* "$former"/..?*; do
    present "$entry" || continue
    name=${entry##*/}
    case $name in agent.yaml | config.yaml | .migrating.*) continue ;; esac
    if [ -d "$entry" ] && [ ! -L "$entry" ]; then
      move_tree "$entry" "$state/$name"
    else
      move_file "$entry" "$state/$(new_name "$name")"
    fi
  done
  for name in config.yaml agent.yaml; do
    if present "$former/$name"; then move_file "$former/$name" "$state/config.yaml"; fi
  done
  rmdir "$former" 2>/dev/null || true
fi

for name in agent-env agent.yaml; do
  if present "$state/$name"; then move_file "$state/$name" "$state/$(new_name "$name")"; fi
done

# What the configuration says of /etc/attestore has to go on being true.
if ! present "$former" && grep -qs '/etc/attestore' "$state/config.yaml" "$state/env"; then
  mkdir -p "$prefix/etc"
  ln -sfn ../var/lib/attestore "$former"
fi

if [ -d "$units/attestore-agent.service.d" ]; then
  say "moving $units/attestore-agent.service.d to attestore.service.d"
  move_tree "$units/attestore-agent.service.d" "$units/attestore.service.d"
fi
if grep -qs 'attestore-agent' "$units/attestore.service.d"/*.conf; then
  say "look at $units/attestore.service.d: it names attestore-agent, which is attestore now"
fi

# The agent works in the root and makes its own files there; by the sticky bit it cannot rename or remove those of root. Somebody who got
# hold of the agent's user could else put a link in the place of `env`, and have systemd read another service's secrets to them.
if [ -z "$prefix" ] && [ "$(id -u)" -eq 0 ] && id attestore >/dev/null 2>&1; then
  mkdir -p "$state"
  chown root:attestore "$state"
  chmod 1770 "$state"
  # From here on nobody else changes a name that is root's. A link that is root's is meant.
  case $(LC_ALL=C stat -c '%u %h %F' "$state/env" 2>/dev/null || true) in
    '0 1 regular'*)
      chgrp attestore "$state/env"
      chmod 0640 "$state/env"
      ;;
    '0 1 symbolic link') ;;
    *)
      part=$(mktemp "$state/.env.XXXXXX")
      if [ -d "$state/env" ] && [ ! -L "$state/env" ]; then mv -T "$state/env" "$part.directory"; fi
      # Read as the agent, which may have made it a link, a pipe or a second name of another file.
      if present "$state/env"; then
        timeout 10 runuser -u attestore -- cat "$state/env" >"$part" || say "$state/env could not be read by the user attestore: it is empty now"
      fi
      chgrp attestore "$part"
      chmod 0640 "$part"
      sync "$part"
      mv -T "$part" "$state/env"
      ;;
  esac
  # Whose the rest is, the agent looks up by this directory when root calls it.
  present "$state/keys" || runuser -u attestore -- mkdir -m 0700 "$state/keys"
fi

# --- the keys that sign: copied, then the agent's file says who holds them, and only then the agent's own go.

holder=/var/lib/attestore-signer

as_agent() { runuser -u attestore -- "$@"; }

# The names of the private halves in the agent's directory. It is the agent's: whatever is done there is done as the agent. Fails where nobody can say.
own_halves() {
  found=$(as_agent find "$state/keys" -maxdepth 2 -type f -name '*.key' -printf '%P\n') || return 1
  # The key in use comes last: a directory that has it is complete.
  printf '%s\n' "$found" | LC_ALL=C sort -r |
    { LC_ALL=C grep -xE 'agent\.key|agent\.next\.key|retired/[A-Za-z0-9+_-]{43}\.key' || [ $? -eq 1 ]; }
}

# The names of the files with identities in the agent's directory. One that says that the signer holds it is none.
own_identities() {
  found=$(as_agent find "$state/keys" -maxdepth 1 -type f -name 'age*.key' -printf '%P\n') || return 1
  for name in $(printf '%s\n' "$found" | { LC_ALL=C grep -xE 'age(-[A-Za-z0-9._-]{1,64})?\.key' || [ $? -eq 1 ]; }); do
    as_agent grep -q '^held-by-signer ' "$state/keys/$name" || printf '%s\n' "$name"
  done
}

# Whether the signer has what the agent has under that name, once this is done.
copy_half() {
  part=$(mktemp "$holder/.moving.XXXXXX")
  timeout 10 runuser -u attestore -- head -c 65537 "$state/keys/$1" >"$part" || { rm -f "$part"; return 1; }
  # What is longer is no key, and would be cut off.
  if [ "$(stat -c %s "$part")" -gt 65536 ]; then rm -f "$part"; say "$state/keys/$1 is too long for a key: it stays"; return 1; fi
  if [ -e "$holder/$1" ]; then
    if cmp -s "$part" "$holder/$1"; then rm -f "$part"; return 0; fi
    rm -f "$part"
    say "$state/keys/$1 is not the key in $holder/$1: both stay, see docs/keys.md"
    return 1
  fi
  directory=$(dirname "$holder/$1")
  # Each has to have been done: what is here is removed there.
  [ -d "$directory" ] || mkdir -m 0700 "$directory" || return 1
  chown attestore-signer:attestore-signer "$directory" "$part" && sync "$part" && mv -T "$part" "$holder/$1" &&
    sync "$directory" "$holder"
}

# Where there is no systemd the agent signs by itself.
if [ -z "$prefix" ] && [ "$(id -u)" -eq 0 ] && [ -d /run/systemd/system ] && id attestore-signer >/dev/null 2>&1; then
  [ -d "$holder" ] || mkdir -m 0700 "$holder"
  chown attestore-signer:attestore-signer "$holder"
  sync "$(dirname "$holder")"
  rm -f "$holder"/.moving.*
  halves=$(own_halves)
  held=1
  for name in $halves; do copy_half "$name" || held=; done
  # Whatever was said above: while the agent has a key in use, it goes on with that one, or the signer has it.
  if [ -e "$state/keys/agent.key" ] && ! [ -s "$holder/agent.key" ]; then held=; fi
  if [ -n "$held" ]; then
    as_agent sh -c "umask 077; cd \"\$1\" && [ -s agent.signer ] ||
      { echo /run/attestore/signer.sock >.agent.signer && sync .agent.signer && mv -T .agent.signer agent.signer && sync .; }" sh "$state/keys"
    for name in $halves; do as_agent rm -f "$state/keys/$name"; done
    # The identities that open backups, likewise: a file that says who holds it takes an identity's place once the copy is on disk.
    identities=$(own_identities) || identities=
    for name in $identities; do
      copy_half "$name" || continue
      as_agent sh -c "umask 077; cd \"\$1\" && { echo '# The signing process holds this identity; a copy of it only root can make: docs/keys.md'; echo held-by-signer /run/attestore/signer.sock; } >.held &&
        sync .held && mv -T .held \"\$2\" && sync ." sh "$state/keys" "$name"
    done
  fi
fi
