#!/bin/sh
# Installs the Attestore agent, or brings an older one up to date, and attaches this host to a service:
#
#   sh install.sh --service https://attestore.example.org [--ca-file ca.pem]
#
# Nothing is installed before its signature was verified with the key below, or with the one that --release-key names.
# A second run changes nothing.
# `sh install.sh --help` says the rest.
set -eu

# minisign's public key of the people who release Attestore; empty in a build from before their first release.
RELEASE_KEY='@RELEASE_KEY@'

usage() {
  cat <<'EOF'
usage: sh install.sh [--service URL] [--ca-file FILE] [--auth-key-file FILE] [--name TEXT] [--release-key KEY]

  --service URL         the orchestrator: what is installed comes from it, and this host is attached to it
  --ca-file FILE        the CA that its certificate leads to, in PEM; without it the public CAs
  --auth-key-file FILE  attach with the auth key in FILE; else it is taken from ATTESTORE_AUTH_KEY, or asked for
  --name TEXT           what the service calls this host; else its host name
  --release-key KEY     take what this minisign key signed, in place of Attestore's own releases: an operator's own build.
                        Whoever has its secret half decides what runs here

Environment:
  ATTESTORE_SKIP_PREREQS=1     install neither a container runtime nor minisign
  ATTESTORE_DOWNLOADS_URL=URL  take the files from here instead of <service>/download; file:///… too
EOF
}

say() { printf '%s\n' "attestore: $*" >&2; }
fail() { say "$*"; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# Every step is in a function and the last line calls them: a download that broke off does nothing.
main() {
  if [ "$(id -u)" -ne 0 ] && [ "${1:-}" != --help ]; then
    if [ ! -f "$0" ] || ! has sudo; then fail "installing needs root: run it again as root"; fi
    say "installing needs root: going on with sudo"
    exec sudo --preserve-env=ATTESTORE_AUTH_KEY,ATTESTORE_SKIP_PREREQS,ATTESTORE_DOWNLOADS_URL sh "$0" "$@"
  fi
  service='' ca_file='' auth_key_file='' name='' release_key=$RELEASE_KEY
  while [ $# -gt 0 ]; do
    case $1 in
      --service | --ca-file | --auth-key-file | --name | --release-key)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
          --service) service=${2%/} ;;
          --ca-file) ca_file=$2 ;;
          --auth-key-file) auth_key_file=$2 ;;
          --name) name=$2 ;;
          --release-key) release_key=$2 ;;
        esac
        shift 2
        ;;
      --help | -h) usage; exit 0 ;;
      *) usage >&2; fail "there is no option $1" ;;
    esac
  done

  case $service in
    '' | https://*) ;;
    *) fail "--service takes https://HOST[:PORT], not $service" ;;
  esac
  for file in "$ca_file" "$auth_key_file"; do
    [ -z "$file" ] || [ -r "$file" ] || fail "$file cannot be read"
  done
  downloads=${ATTESTORE_DOWNLOADS_URL:-}
  [ -n "$downloads" ] || [ -n "$service" ] || fail "which service? Give --service https://HOST[:PORT]"
  downloads=${downloads:-$service/download}
  case $release_key in
    RW??????????????????????????????????????????????????????) ;;
    '') fail "this is an operator's build and no release of Attestore's. To take it: --release-key KEY, with the key that your operator told you" ;;
    *) fail "--release-key takes minisign's public key (RW…), not $release_key" ;;
  esac
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) architecture=amd64 rpm_architecture=x86_64 ;;
    Linux-aarch64) architecture=arm64 rpm_architecture=aarch64 ;;
    *) fail "there is no agent for $(uname -s) on $(uname -m)" ;;
  esac

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM

  prerequisites
  fetch_checksums
  install_agent
  keep_signature
  retire_former
  attach
  start
}

# --- what has to be there first

installer() {
  for each in apt-get dnf yum zypper; do
    if has "$each"; then echo "$each"; return; fi
  done
}

# Whether the package manager could install it.
install_packages() {
  case $(installer) in
    apt-get)
      [ -n "${apt_updated:-}" ] || apt-get update -qq >&2 || return 1
      apt_updated=1
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
      ;;
    dnf) dnf install -y -q "$@" >&2 ;;
    yum) yum install -y -q "$@" >&2 ;;
    zypper) zypper --quiet --non-interactive install "$@" >&2 ;;
    *) return 1 ;;
  esac
}

prerequisites() {
  has sha256sum || fail "sha256sum (coreutils) is missing"
  if [ "${ATTESTORE_SKIP_PREREQS:-}" = 1 ]; then
    has minisign ||
      fail "minisign is missing, and without it nothing can be verified. Install it, or run without ATTESTORE_SKIP_PREREQS=1"
    has curl || fail "curl is missing: install it"
    return 0
  fi
  has curl || install_packages curl ca-certificates || fail "curl could not be installed"
  if ! has minisign; then
    say "installing minisign, which verifies what is installed"
    install_packages minisign || fail "minisign could not be installed; install it by hand and run this again"
  fi
  if ! has docker && ! has podman; then
    say "installing podman, in which restores are tested"
    # Restore tests can do without: the process sandbox needs none.
    install_packages podman || say "no container runtime could be installed; restore tests will use the process sandbox"
  fi
}

# --- what is installed

fetch() { # NAME
  set -- "$downloads/$1" "$work/$1"
  if [ -n "$ca_file" ]; then set -- --cacert "$ca_file" "$@"; fi
  fetch_with "$@" || fail "$downloads could not be read"
}

fetch_with() {
  if [ $# -eq 4 ]; then
    curl -fsS --retry 3 --proto '=https,file' --cacert "$2" -o "$4" "$3"
  else
    curl -fsS --retry 3 --proto '=https,file' -o "$2" "$1"
  fi
}

fetch_checksums() {
  fetch SHA256SUMS
  fetch SHA256SUMS.minisig
  # The trusted comment names the release; it is signed too.
  release=$(minisign -V -Q -P "$release_key" -m "$work/SHA256SUMS" -x "$work/SHA256SUMS.minisig") ||
    fail "SHA256SUMS from $downloads is not signed by $release_key: nothing was installed"
  version=${release#attestore }
  case $version in
    '' | *[!0-9A-Za-z.~+-]*) fail "the signature names no release: nothing was installed" ;;
  esac
}

# The wanted file, checked against the signed list.
fetch_verified() { # NAME
  fetch "$1"
  listed=$(awk -v name="$1" '$2 == name { print $1 }' "$work/SHA256SUMS")
  [ -n "$listed" ] || fail "$1 is not part of the release $version"
  [ "$(sha256sum <"$work/$1" | cut -d ' ' -f 1)" = "$listed" ] ||
    fail "$1 from $downloads is not the one that was signed: nothing was installed"
}

# Of two versions, whether the first is the newer one.
is_newer() {
  [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | tail -n 1)" = "$1" ]
}

install_agent() {
  installed=$(/usr/bin/attestore --version 2>/dev/null || true)
  if [ "$installed" = "$version" ]; then
    say "attestore $version is installed"
    return 0
  fi
  if [ -n "$installed" ] && is_newer "$installed" "$version"; then
    say "attestore $installed is installed, which is newer than $version: it stays"
    return 0
  fi
  say "installing attestore $version${installed:+ in place of $installed}"
  if has dpkg && has apt-get; then
    package=attestore_${version}_$architecture.deb
    fetch_verified "$package"
    # apt reads it as its own user.
    chmod 0755 "$work"
    apt_install "$work/$package" || { apt-get update -qq >&2 && apt_install "$work/$package"; } ||
      fail "$package could not be installed"
  elif has rpm; then
    package=attestore-$version-1.$rpm_architecture.rpm
    fetch_verified "$package"
    rpm -U --quiet "$work/$package" >&2 || fail "$package could not be installed"
  else
    install_files
  fi
}

# With it goes attestore-agent, whose place it takes.
apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$1" >&2
}

install_files() {
  fetch_verified "attestore-linux-$architecture"
  for file in attestore.service attestore-sandbox.socket attestore-sandbox.service attestore-sandbox.tmpfiles \
    attestore-signer.socket attestore-signer.service; do
    fetch_verified "$file"
  done
  fetch_verified attestore-migrate.sh
  if ! getent passwd attestore >/dev/null; then
    if has useradd; then
      useradd --system --user-group --home-dir /var/lib/attestore --no-create-home --shell /usr/sbin/nologin attestore
    else
      addgroup -S attestore && adduser -S -D -H -h /var/lib/attestore -s /sbin/nologin -G attestore attestore
    fi
  fi
  for user in attestore-sandbox attestore-signer; do
    if getent passwd "$user" >/dev/null; then continue; fi
    if has useradd; then
      useradd --system --user-group --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin "$user"
    else
      addgroup -S "$user" && adduser -S -D -H -h /nonexistent -s /sbin/nologin -G "$user" "$user"
    fi
  done
  mkdir -p /var/lib/attestore
  chown root:attestore /var/lib/attestore
  # Sticky: the agent makes and replaces what is its own there, and nothing of root's.
  chmod 1770 /var/lib/attestore
  # An agent of an earlier version, which reads its keys itself, must not look for them while they are moved.
  if [ -d /run/systemd/system ] && { [ -e /var/lib/attestore/keys/agent.key ] ||
  timeout 10 runuser -u attestore -- grep -qs '^AGE-SECRET-KEY' /var/lib/attestore/keys/age.key; }; then
    systemctl stop attestore.service 2>/dev/null || true
  fi
  sh "$work/attestore-migrate.sh"
  for unit in attestore.service attestore-sandbox.socket attestore-signer.socket attestore-signer.service; do
    put "$work/$unit" "/etc/systemd/system/$unit" 0644
  done
  put "$work/attestore-sandbox.service" /etc/systemd/system/attestore-sandbox@.service 0644
  put "$work/attestore-sandbox.tmpfiles" /usr/lib/tmpfiles.d/attestore-sandbox.conf 0644
  put "$work/attestore-linux-$architecture" /usr/bin/attestore 0755
}

# For `attestore doctor`, which holds the program against it. Root's, so that the agent cannot change it.
keep_signature() {
  listed=$(awk -v name="attestore-linux-$architecture" '$2 == name { print $1 }' "$work/SHA256SUMS")
  # Another version stays, or another build of this one: the list is not about that.
  [ "$(sha256sum </usr/bin/attestore | cut -d ' ' -f 1)" = "$listed" ] || return 0
  put "$work/SHA256SUMS" /usr/lib/attestore/release/SHA256SUMS 0644
  put "$work/SHA256SUMS.minisig" /usr/lib/attestore/release/SHA256SUMS.minisig 0644
  printf 'untrusted comment: what install.sh was told to take\n%s\n' "$release_key" >"$work/minisign.pub"
  put "$work/minisign.pub" /usr/lib/attestore/release/minisign.pub 0644
}

# Beside it first: a program that runs cannot be written to, and a file that is half there must not be found.
put() { # FROM TO MODE
  mkdir -p "$(dirname "$2")"
  cp "$1" "$2.new"
  chmod "$3" "$2.new"
  mv "$2.new" "$2"
}

# What an installation under the former name left that belongs to no package.
retire_former() {
  unit=/etc/systemd/system/attestore-agent.service
  if [ -f "$unit" ] && [ ! -L "$unit" ]; then
    if [ -d /run/systemd/system ]; then systemctl disable --now --quiet attestore-agent.service 2>/dev/null || true; fi
    rm -f "$unit" /etc/systemd/system/multi-user.target.wants/attestore-agent.service
    say "removed $unit: attestore.service takes its place"
  fi
  for program in /usr/local/bin/attestore-agent /usr/bin/attestore-agent; do
    [ -f "$program" ] || continue
    if has dpkg-query && dpkg-query -S "$program" >/dev/null 2>&1; then continue; fi
    if has rpm && rpm -qf "$program" >/dev/null 2>&1; then continue; fi
    rm -f "$program"
    say "removed $program: it is called attestore now"
  done
}

# --- attached, and running

attach() {
  if grep -qs '^agent:' /var/lib/attestore/config.yaml; then
    say "this host is already attached"
    return 0
  fi
  if [ -z "$service" ]; then
    say "next: attestore init --service URL"
    return 0
  fi
  set -- init --service "$service"
  [ -z "$name" ] || set -- "$@" --name "$name"
  if [ -n "$ca_file" ]; then
    # The agent runs as its own user, who may not be able to read where it lies.
    chmod 0755 "$work"
    install -m 0644 "$ca_file" "$work/ca.pem"
    set -- "$@" --ca-file "$work/ca.pem"
  fi
  if [ -n "$auth_key_file" ]; then
    agent "$@" --auth-key-file - <"$auth_key_file"
  elif [ -z "${ATTESTORE_AUTH_KEY:-}" ] && [ ! -t 0 ] && (: </dev/tty) 2>/dev/null; then
    # Standard input is this script: the person is at the terminal.
    agent "$@" </dev/tty
  else
    agent "$@"
  fi || fail "the agent is installed and not attached. What it said is above; repeat: sh install.sh --service $service"
}

# As its own user, so that what it writes is the service's.
agent() {
  runuser -u attestore -- env ATTESTORE_HOME=/var/lib/attestore /usr/bin/attestore "$@"
}

start() {
  if [ ! -d /run/systemd/system ]; then
    say "systemd does not run here: start \`attestore run\` as the user attestore by what does"
    return 0
  fi
  systemctl daemon-reload
  systemctl enable --quiet --now attestore-sandbox.socket attestore-signer.socket
  # One of an earlier version may not know what this agent asks for.
  if [ "${installed:-}" != "$version" ]; then systemctl try-restart attestore-signer.service; fi
  systemctl enable --quiet attestore.service
  if ! grep -qs '^agent:' /var/lib/attestore/config.yaml; then return 0; fi
  # Started anew only where there is something new: a run under way is not to be cut off for nothing.
  if [ "${installed:-}" != "$version" ] || ! systemctl is-active --quiet attestore.service; then
    systemctl restart attestore.service
  fi
  say "attestore runs. Next: name what to back up in /var/lib/attestore/config.yaml, then: attestore backup"
}

main "$@"
