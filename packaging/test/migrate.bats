#!/usr/bin/env bats
# migrate.sh below a prefix of its own.

setup() {
  prefix=$(mktemp -d)
  migrate=$BATS_TEST_DIRNAME/../migrate.sh
  former=$prefix/etc/attestore
  state=$prefix/var/lib/attestore
  units=$prefix/etc/systemd/system
}

teardown() {
  rm -rf "$prefix"
}

former_installation() {
  mkdir -p "$former/keys" "$former/receipts/waiting" "$units/attestore-agent.service.d" "$prefix/var/lib"
  echo 'agent: { id: agent_1 }' >"$former/agent.yaml"
  echo 'ORDERS_URL=postgresql:///orders' >"$former/agent-env"
  echo 'ats_token' >"$former/keys/token"
  echo 'AGE-SECRET-KEY' >"$former/keys/age.key"
  echo 'kept' >"$former/receipts/waiting/one two.json"
  echo 'hidden' >"$former/.hidden"
  ln -s ../keys/age.key "$former/receipts/link"
  printf '[Service]\nNice=10\n' >"$units/attestore-agent.service.d/nice.conf"
  chmod 0600 "$former/keys/"* "$former/agent-env"
  chmod 0640 "$former/agent.yaml"
  chmod 0700 "$former" "$former/keys"
  chmod 0750 "$former/receipts"
  if [ "$(id -u)" -eq 0 ]; then chown -R nobody:nogroup "$former"; chown root "$former/receipts/waiting/one two.json"; fi
  touch -d 2026-01-02T03:04:05Z "$former/keys/token"
}

# Names, kinds, owners, modes and contents of everything.
picture() {
  (cd "$1" && find . -mindepth 1 -printf '%P %y %u:%g %m %l\n' | sort && find . -type f -exec sha256sum {} + | sort -k 2)
}

@test "what the former names held is where it is looked for, as it was" {
  former_installation
  "$migrate" "$prefix"
  [ ! -e "$former" ]
  [ "$(cat "$state/config.yaml")" = 'agent: { id: agent_1 }' ]
  [ "$(cat "$state/env")" = 'ORDERS_URL=postgresql:///orders' ]
  [ "$(cat "$state/keys/token")" = ats_token ]
  [ "$(cat "$state/receipts/waiting/one two.json")" = kept ]
  [ "$(cat "$state/.hidden")" = hidden ]
  [ "$(readlink "$state/receipts/link")" = ../keys/age.key ]
  [ "$(stat -c %a "$state/keys")" = 700 ]
  [ "$(stat -c %a "$state/receipts")" = 750 ]
  [ "$(stat -c %a "$state/keys/token")" = 600 ]
  [ "$(stat -c %a "$state/config.yaml")" = 640 ]
  [ "$(date -u -r "$state/keys/token" +%FT%TZ)" = 2026-01-02T03:04:05Z ]
  if [ "$(id -u)" -eq 0 ]; then
    [ "$(stat -c %U:%G "$state/keys/token")" = nobody:nogroup ]
    [ "$(stat -c %U "$state/receipts/waiting/one two.json")" = root ]
  fi
  [ "$(cat "$units/attestore.service.d/nice.conf")" = "$(printf '[Service]\nNice=10')" ]
  [ ! -e "$units/attestore-agent.service.d" ]
  [ -z "$(find "$prefix" -name '.migrating*')" ]
}

@test "files of the former names in the root get the new ones" {
  mkdir -p "$state"
  echo config >"$state/agent.yaml"
  echo env >"$state/agent-env"
  "$migrate" "$prefix"
  [ "$(ls "$state")" = "$(printf 'config.yaml\nenv')" ]
}

@test "a second run changes nothing" {
  former_installation
  "$migrate" "$prefix"
  before=$(picture "$prefix")
  run "$migrate" "$prefix"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ "$(picture "$prefix")" = "$before" ]
}

@test "does nothing where there is nothing" {
  run "$migrate" "$prefix"
  [ "$status" -eq 0 ]
  [ -z "$(ls -A "$prefix")" ]
}

@test "never overwrites: what is in the new place stays, and the old one is left and named" {
  former_installation
  mkdir -p "$state/keys"
  echo 'agent: { id: agent_2 }' >"$state/config.yaml"
  echo 'ats_newer' >"$state/keys/token"
  run "$migrate" "$prefix"
  [ "$status" -eq 0 ]
  [ "$(cat "$state/config.yaml")" = 'agent: { id: agent_2 }' ]
  [ "$(cat "$state/keys/token")" = ats_newer ]
  [ "$(cat "$former/agent.yaml")" = 'agent: { id: agent_1 }' ]
  [ "$(cat "$former/keys/token")" = ats_token ]
  # The rest moved all the same.
  [ "$(cat "$state/keys/age.key")" = AGE-SECRET-KEY ]
  [[ "$output" == *"$former/agent.yaml"* ]]
  [[ "$output" == *"$former/keys/token"* ]]
}

@test "what the configuration says of /etc/attestore goes on being true" {
  former_installation
  echo 'service: { ca_file: /etc/attestore/keys/ca.pem }' >"$former/agent.yaml"
  "$migrate" "$prefix"
  [ -L "$former" ]
  [ "$(cat "$former/keys/token")" = ats_token ]
  run "$migrate" "$prefix"
  [ "$status" -eq 0 ]
  [ "$(cat "$former/keys/token")" = ats_token ]
}

@test "killed before any of its commands, the next run finishes, and a configuration is never there before its keys" {
  # A kill leaves what is on disk at that moment: every program that changes something keeps a copy of that first.
  shims=$prefix.shims
  mkdir "$shims"
  for program in cp mv rm rmdir mkdir ln chown chmod sync; do
    printf '#!/bin/sh\nread -r n <%s/count\nn=$((n + 1))\necho $n >%s/count\n%s -a %s %s/$n\nexec %s "$@"\n' \
      "$shims" "$shims" "$(command -v cp)" "$prefix" "$shims" "$(command -v $program)" >"$shims/$program"
    chmod +x "$shims/$program"
  done
  former_installation
  echo 'service: { ca_file: /etc/attestore/keys/ca.pem }' >"$former/agent.yaml"
  echo 0 >"$shims/count"
  PATH=$shims:$PATH "$migrate" "$prefix"
  wanted=$(picture "$prefix")

  read -r commands <"$shims/count"
  for at in $(seq "$commands"); do
    rm -rf "$prefix"
    mv "$shims/$at" "$prefix"
    if [ -e "$state/config.yaml" ]; then
      [ "$(<"$state/keys/token")" = ats_token ]
      [ "$(<"$state/keys/age.key")" = AGE-SECRET-KEY ]
    fi
    # Nothing is in neither place.
    grep -qrs ats_token "$prefix"
    "$migrate" "$prefix" 2>/dev/null
    [ "$(picture "$prefix")" = "$wanted" ] || { echo "killed at $at:"; diff <(echo "$wanted") <(picture "$prefix"); false; }
  done
  rm -rf "$shims"
  [ "$commands" -gt 30 ]
}
