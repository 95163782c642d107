#!/bin/sh
# Installs the Attestore agent, or brings an older one up to date, and attaches this host to a service:
#
#   sh install.sh --service https://attestore.example.org [--ca-file ca.pem]
#
# Nothing is installed before its signature was verified with the key below, or with the one that --release-key names.
# A second run changes nothing.
# `sh install.sh --help` lists the options.
set -eu

# The minisign public key of Attestore's releases. Empty in builds made before the first release.
RELEASE_KEY='@RELEASE_KEY@'

usage() {
  cat <<'EOF'
usage: sh install.sh [--service URL] [--ca-file FILE] [--auth-key-file FILE] [--name TEXT] [--allow-remote-config]
                     [--release-key KEY]

  --service URL         the orchestrator: the agent is downloaded from it, and this host is attached to it
  --ca-file FILE        the CA of its certificate, in PEM; default: the public CAs
  --auth-key-file FILE  attach with the auth key in FILE; default: ATTESTORE_AUTH_KEY, else you are asked
  --name TEXT           this host's name in the service; default: the host name
  --allow-remote-config let owners and admins of the organisation add sources and checks in the dashboard; later:
                        attestore remote-config on
  --release-key KEY     install what this minisign key signed, such as your operator's own build, instead of Attestore's
                        own release. Whoever holds its secret key decides what runs on this host

Environment:
  ATTESTORE_SKIP_PREREQS=1     install neither a container runtime nor minisign
  ATTESTORE_DOWNLOADS_URL=URL  download from here instead of <service>/download; file:///… works too
EOF
}

say() { printf '%s\n' "attestore: $*" >&2; }
fail() { say "$*"; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# Every step is a function, and the last line calls them: a script that was cut off while downloading does nothing.
main() {
  if [ "$(id -u)" -ne 0 ] && [ "${1:-}" != --help ]; then
    if [ ! -f "$0" ] || ! has sudo; then fail "installing needs root: run it again as root"; fi
    say "installing needs root: continuing with sudo"
    exec sudo --preserve-env=ATTESTORE_AUTH_KEY,ATTESTORE_SKIP_PREREQS,ATTESTORE_DOWNLOADS_URL sh "$0" "$@"
  fi
  service='' ca_file='' auth_key_file='' name='' allow_remote_config='' release_key=$RELEASE_KEY
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
      --allow-remote-config) allow_remote_config=1; shift ;;
      --help | -h) usage; exit 0 ;;
      *) usage >&2; fail "unknown option $1" ;;
    esac
  done

  case $service in
    '' | https://*) ;;
    *) fail "--service must be https://HOST[:PORT], not $service" ;;
  esac
  for file in "$ca_file" "$auth_key_file"; do
    [ -z "$file" ] || [ -r "$file" ] || fail "$file cannot be read"
  done
  downloads=${ATTESTORE_DOWNLOADS_URL:-}
  [ -n "$downloads" ] || [ -n "$service" ] || fail "no service given: use --service https://HOST[:PORT]"
  downloads=${downloads:-$service/download}
  case $release_key in
    RW??????????????????????????????????????????????????????) ;;
    '') fail "this is an operator's own build, not an Attestore release. To install it, use --release-key KEY with the key that your operator gave you" ;;
    *) fail "--release-key must be a minisign public key (RW…), not $release_key" ;;
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

# --- prerequisites

installer() {
  for each in apt-get dnf yum zypper; do
    if has "$each"; then echo "$each"; return; fi
  done
}

# Fails if the package manager could not install them.
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
      fail "minisign is missing, and it is needed to verify the download. Install it, or run without ATTESTORE_SKIP_PREREQS=1"
    has curl || fail "curl is missing: install it"
    return 0
  fi
  has curl || install_packages curl ca-certificates || fail "curl could not be installed"
  if ! has minisign; then
    say "installing minisign, to verify the download"
    install_packages minisign || fail "minisign could not be installed. Install it yourself, then run this script again"
  fi
  if ! has docker && ! has podman; then
    say "installing podman, to run restore tests in containers"
    # Not fatal: the process sandbox needs no container runtime.
    install_packages podman || say "podman could not be installed. Restore tests will use the process sandbox"
  fi
}

# --- download and install

fetch() { # NAME
  set -- "$downloads/$1" "$work/$1"
  if [ -n "$ca_file" ]; then set -- --cacert "$ca_file" "$@"; fi
  fetch_with "$@" || fail "could not download from $downloads"
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
    '' | *[!0-9A-Za-z.~+-]*) fail "the signature does not name a release: nothing was installed" ;;
  esac
}

# Fetches a file and checks it against the signed list.
fetch_verified() { # NAME
  fetch "$1"
  listed=$(awk -v name="$1" '$2 == name { print $1 }' "$work/SHA256SUMS")
  [ -n "$listed" ] || fail "$1 is not part of release $version: nothing was installed"
  [ "$(sha256sum <"$work/$1" | cut -d ' ' -f 1)" = "$listed" ] ||
    fail "$1 from $downloads does not match the signed checksum: nothing was installed"
}

# Succeeds if the first version is newer than the second.
is_newer() {
  [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | tail -n 1)" = "$1" ]
}

install_agent() {
  installed=$(/usr/bin/attestore --version 2>/dev/null || true)
  if [ "$installed" = "$version" ]; then
    say "attestore $version is already installed"
    return 0
  fi
  if [ -n "$installed" ] && is_newer "$installed" "$version"; then
    say "attestore $installed is installed and newer than $version: it was kept"
    return 0
  fi
  say "installing attestore $version${installed:+ in place of $installed}"
  if has dpkg && has apt-get; then
    package=attestore_${version}_$architecture.deb
    fetch_verified "$package"
    # apt reads the package as its own user.
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

# The package replaces attestore-agent, which apt removes.
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
  # Sticky: the agent can create and replace its own files there, but not root's.
  chmod 1770 /var/lib/attestore
  # An older agent reads its keys itself: it must not look for them while they are being moved.
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

# `attestore doctor` checks the program against it. Owned by root, so that the agent cannot change it.
keep_signature() {
  listed=$(awk -v name="attestore-linux-$architecture" '$2 == name { print $1 }' "$work/SHA256SUMS")
  # If a newer version or another build was kept, this list does not describe it.
  [ "$(sha256sum </usr/bin/attestore | cut -d ' ' -f 1)" = "$listed" ] || return 0
  put "$work/SHA256SUMS" /usr/lib/attestore/release/SHA256SUMS 0644
  put "$work/SHA256SUMS.minisig" /usr/lib/attestore/release/SHA256SUMS.minisig 0644
  printf 'untrusted comment: the key that install.sh verified this release with\n%s\n' "$release_key" >"$work/minisign.pub"
  put "$work/minisign.pub" /usr/lib/attestore/release/minisign.pub 0644
}

# Copy beside it, then rename: a running program cannot be overwritten, and no half-written file may be found.
put() { # FROM TO MODE
  mkdir -p "$(dirname "$2")"
  cp "$1" "$2.new"
  chmod "$3" "$2.new"
  mv "$2.new" "$2"
}

# Removes what an installation under the former name left behind and no package owns.
retire_former() {
  unit=/etc/systemd/system/attestore-agent.service
  if [ -f "$unit" ] && [ ! -L "$unit" ]; then
    if [ -d /run/systemd/system ]; then systemctl disable --now --quiet attestore-agent.service 2>/dev/null || true; fi
    rm -f "$unit" /etc/systemd/system/multi-user.target.wants/attestore-agent.service
    say "removed $unit: attestore.service replaces it"
  fi
  for program in /usr/local/bin/attestore-agent /usr/bin/attestore-agent; do
    [ -f "$program" ] || continue
    if has dpkg-query && dpkg-query -S "$program" >/dev/null 2>&1; then continue; fi
    if has rpm && rpm -qf "$program" >/dev/null 2>&1; then continue; fi
    rm -f "$program"
    say "removed $program: the program is now called attestore"
  done
}

# --- attach and start

attach() {
  if grep -qs '^agent:' /var/lib/attestore/config.yaml; then
    say "this host is already attached"
    if [ -n "$allow_remote_config" ]; then say "to let the dashboard add sources: attestore remote-config on"; fi
    return 0
  fi
  if [ -z "$service" ]; then
    say "next: attestore init --service URL"
    return 0
  fi
  set -- init --service "$service"
  [ -z "$name" ] || set -- "$@" --name "$name"
  [ -z "$allow_remote_config" ] || set -- "$@" --allow-remote-config
  if [ -n "$ca_file" ]; then
    # The agent runs as its own user, who may not be able to read the original file.
    chmod 0755 "$work"
    install -m 0644 "$ca_file" "$work/ca.pem"
    set -- "$@" --ca-file "$work/ca.pem"
  fi
  if [ -n "$auth_key_file" ]; then
    agent "$@" --auth-key-file - <"$auth_key_file"
  elif [ -z "${ATTESTORE_AUTH_KEY:-}" ] && [ ! -t 0 ] && (: </dev/tty) 2>/dev/null; then
    # Standard input is this script, so ask at the terminal.
    agent "$@" </dev/tty
  else
    agent "$@"
  fi || fail "the agent is installed but not attached. See its message above, then repeat: sh install.sh --service $service"
}

# Run as the agent's user, so that it owns the files it writes.
agent() {
  runuser -u attestore -- env ATTESTORE_HOME=/var/lib/attestore /usr/bin/attestore "$@"
}

start() {
  if [ ! -d /run/systemd/system ]; then
    say "systemd is not running here: have your init system start \`attestore run\` as the user attestore"
    return 0
  fi
  systemctl daemon-reload
  systemctl enable --quiet --now attestore-sandbox.socket attestore-signer.socket
  # A signer of an earlier version may not know this agent's requests.
  if [ "${installed:-}" != "$version" ]; then systemctl try-restart attestore-signer.service; fi
  systemctl enable --quiet attestore.service
  if ! grep -qs '^agent:' /var/lib/attestore/config.yaml; then return 0; fi
  # Restart only if something changed, so that no running backup is cut off for nothing.
  if [ "${installed:-}" != "$version" ] || ! systemctl is-active --quiet attestore.service; then
    systemctl restart attestore.service
  fi
  say "attestore is running. Next: add a source in the dashboard, or run here: sudo attestore source add"
}

main "$@"
