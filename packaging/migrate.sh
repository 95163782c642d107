#!/bin/sh
# Moves the files of an installation under the former names to where the agent looks for them now:
#
#   /etc/attestore/*                          -> /var/lib/attestore/*
#   agent.yaml, agent-env                     -> config.yaml, env
#   attestore-agent.service.d/*.conf          -> attestore.service.d/*.conf
#
# Then makes root the owner of the agent's root and of its `env`, which systemd reads as root, and hands the signing keys and the
# identities that decrypt backups to attestore-signer.service.
#
# No existing file is ever overwritten: if a file exists in both places, the new one is kept, the old one stays where it is, and a
# message names it. Owners, modes and times are kept. If it is killed at any line, a second run finishes the work: each file appears
# in its new place by a rename, and only then is the old one removed.
#
# usage: migrate [PREFIX]        PREFIX is put before every path
set -eu

prefix=${1:-}
state=$prefix/var/lib/attestore
former=$prefix/etc/attestore
units=$prefix/etc/systemd/system

say() { printf 'attestore: %s\n' "$*" >&2; }

present() { [ -e "$1" ] || [ -L "$1" ]; }

# The new name of a file of the old root.
new_name() {
  case $1 in
    agent.yaml) echo config.yaml ;;
    agent-env) echo env ;;
    *) echo "$1" ;;
  esac
}

# Succeeds if two files have the same content, or two links the same target.
same() {
  if [ -L "$1" ] || [ -L "$2" ]; then
    [ -L "$1" ] && [ -L "$2" ] && [ "$(readlink "$1")" = "$(readlink "$2")" ]
  else
    [ -f "$1" ] && [ -f "$2" ] && cmp -s "$1" "$2"
  fi
}

# move_file OLD NEW: works across file systems too.
move_file() {
  if present "$2"; then
    if same "$1" "$2"; then
      rm -f "$1"
    else
      say "kept $2; $1 is different and was left in place"
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

# move_tree OLD NEW: moves a directory's content, and removes the directory once it is empty.
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
  # The configuration is moved last: a root that has one is complete.
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

# Paths under /etc/attestore in the configuration must go on working.
if ! present "$former" && grep -qs '/etc/attestore' "$state/config.yaml" "$state/env"; then
  mkdir -p "$prefix/etc"
  ln -sfn ../var/lib/attestore "$former"
fi

if [ -d "$units/attestore-agent.service.d" ]; then
  say "moving $units/attestore-agent.service.d to attestore.service.d"
  move_tree "$units/attestore-agent.service.d" "$units/attestore.service.d"
fi
if grep -qs 'attestore-agent' "$units/attestore.service.d"/*.conf; then
  say "check $units/attestore.service.d: it mentions attestore-agent, which is now called attestore"
fi

# The agent creates its own files in the root; the sticky bit stops it from renaming or removing root's files. Otherwise somebody who
# took over the agent's user could replace `env` by a link, and systemd would read another service's secrets for them.
if [ -z "$prefix" ] && [ "$(id -u)" -eq 0 ] && id attestore >/dev/null 2>&1; then
  mkdir -p "$state"
  # Root ran the agent here before the package was installed: what is root's becomes the agent's. Not where the agent's user could
  # already write. Each directory comes after what is in it, and `keys` last, so a run that was killed is done again.
  if [ ! -L "$state/keys" ] && [ "$(stat -c '%u %a' "$state")" = '0 700' ] && [ "$(stat -c %u "$state/keys" 2>/dev/null)" = 0 ]; then
    say "$state was root's and becomes the user attestore's"
    hand_over() { find "$1" -xdev -depth -user root \( -type d -o -links 1 \) -execdir chown -h attestore:attestore {} +; }
    for entry in "$state"/* "$state"/.[!.]*; do
      case ${entry##*/} in env | keys) continue ;; esac
      if present "$entry"; then hand_over "$entry"; fi
    done
    hand_over "$state/keys"
  fi
  # In this order, so that an agent that runs meanwhile never finds its root closed.
  chgrp attestore "$state"
  chmod 1770 "$state"
  chown root "$state"
  # From here on only root can change a name that root owns. A link that root owns is intended.
  case $(LC_ALL=C stat -c '%u %h %F' "$state/env" 2>/dev/null || true) in
    '0 1 regular'*)
      chgrp attestore "$state/env"
      chmod 0640 "$state/env"
      ;;
    '0 1 symbolic link') ;;
    *)
      part=$(mktemp "$state/.env.XXXXXX")
      if [ -d "$state/env" ] && [ ! -L "$state/env" ]; then mv -T "$state/env" "$part.directory"; fi
      # Read it as the agent's user, because the agent may have made it a link, a pipe or a second name of another file.
      if present "$state/env"; then
        timeout 10 runuser -u attestore -- cat "$state/env" >"$part" || say "the user attestore could not read $state/env: it is now empty"
      fi
      chgrp attestore "$part"
      chmod 0640 "$part"
      sync "$part"
      mv -T "$part" "$state/env"
      ;;
  esac
  # When root runs the agent, it takes the owner of this directory for its other files.
  present "$state/keys" || runuser -u attestore -- mkdir -m 0700 "$state/keys"
fi

# --- the signing keys: copy them, then write the file that says who holds them, and only then remove the agent's own.

holder=/var/lib/attestore-signer

as_agent() { runuser -u attestore -- "$@"; }

# Prints the names of the private keys in the agent's directory, and fails if it cannot be read. The directory belongs to the agent, so
# everything in it is done as the agent's user.
own_halves() {
  found=$(as_agent find "$state/keys" -maxdepth 2 -type f -name '*.key' -printf '%P\n') || return 1
  # The key in use comes last: a directory that has it is complete.
  printf '%s\n' "$found" | LC_ALL=C sort -r |
    { LC_ALL=C grep -xE 'agent\.key|agent\.next\.key|retired/[A-Za-z0-9+_-]{43}\.key' || [ $? -eq 1 ]; }
}

# Prints the names of the identity files in the agent's directory, without those whose identity the signer already holds.
own_identities() {
  found=$(as_agent find "$state/keys" -maxdepth 1 -type f -name 'age*.key' -printf '%P\n') || return 1
  for name in $(printf '%s\n' "$found" | { LC_ALL=C grep -xE 'age(-[A-Za-z0-9._-]{1,64})?\.key' || [ $? -eq 1 ]; }); do
    as_agent grep -q '^held-by-signer ' "$state/keys/$name" || printf '%s\n' "$name"
  done
}

# Copies a private key to the signer. Succeeds if the signer then has the same key under that name.
copy_half() {
  part=$(mktemp "$holder/.moving.XXXXXX")
  timeout 10 runuser -u attestore -- head -c 65537 "$state/keys/$1" >"$part" || { rm -f "$part"; return 1; }
  # A longer file is not a key, and the copy would be cut off.
  if [ "$(stat -c %s "$part")" -gt 65536 ]; then rm -f "$part"; say "$state/keys/$1 is too long for a key and was left in place"; return 1; fi
  if [ -e "$holder/$1" ]; then
    if cmp -s "$part" "$holder/$1"; then rm -f "$part"; return 0; fi
    rm -f "$part"
    say "$state/keys/$1 and $holder/$1 are different keys: both were kept, see docs/keys.md"
    return 1
  fi
  directory=$(dirname "$holder/$1")
  # Every step must succeed: the original is removed once the copy is here.
  [ -d "$directory" ] || mkdir -m 0700 "$directory" || return 1
  chown attestore-signer:attestore-signer "$directory" "$part" && sync "$part" && mv -T "$part" "$holder/$1" &&
    sync "$directory" "$holder"
}

# Without systemd the agent signs by itself.
if [ -z "$prefix" ] && [ "$(id -u)" -eq 0 ] && [ -d /run/systemd/system ] && id attestore-signer >/dev/null 2>&1; then
  [ -d "$holder" ] || mkdir -m 0700 "$holder"
  chown attestore-signer:attestore-signer "$holder"
  sync "$(dirname "$holder")"
  rm -f "$holder"/.moving.*
  halves=$(own_halves)
  held=1
  for name in $halves; do copy_half "$name" || held=; done
  # Whatever happened above: either the agent keeps its key in use, or the signer has it.
  if [ -e "$state/keys/agent.key" ] && ! [ -s "$holder/agent.key" ]; then held=; fi
  if [ -n "$held" ]; then
    as_agent sh -c "umask 077; cd \"\$1\" && [ -s agent.signer ] ||
      { echo /run/attestore/signer.sock >.agent.signer && sync .agent.signer && mv -T .agent.signer agent.signer && sync .; }" sh "$state/keys"
    for name in $halves; do as_agent rm -f "$state/keys/$name"; done
    # The identities that decrypt backups, in the same way: once the copy is on disk, a file that says who holds it replaces the identity.
    identities=$(own_identities) || identities=
    for name in $identities; do
      copy_half "$name" || continue
      as_agent sh -c "umask 077; cd \"\$1\" && { echo '# The signing process holds this identity. Only root can copy it: docs/keys.md'; echo held-by-signer /run/attestore/signer.sock; } >.held &&
        sync .held && mv -T .held \"\$2\" && sync ." sh "$state/keys" "$name"
    done
  fi
fi
