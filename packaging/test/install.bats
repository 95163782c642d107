#!/usr/bin/env bats
# install.sh in a clean root, from files instead of a service. RELEASE names the directory of a built release.

setup() {
  : "${RELEASE:?names a directory that npm run package made}"
  version=$(sed -n 's/^attestore_\(.*\)_amd64.deb$/\1/p' <<<"$(ls "$RELEASE")")
}

clean_root() {
  # `! command` would not end the script where the command succeeds.
  run "$BATS_TEST_DIRNAME/clean-root.sh" 'refused() { if "$@"; then echo "not refused: $*"; exit 70; fi; }; '"$1"
  echo "$output"
}

# A copy of the release to spoil.
spoilt='cp -r /release /spoilt; export ATTESTORE_DOWNLOADS_URL=file:///spoilt;'
nothing_installed='
  [ ! -e /usr/bin/attestore ]
  [ ! -e /var/lib/attestore ]
  refused getent passwd attestore
'

@test "is a whole script: cut off anywhere it does nothing" {
  clean_root "
    size=\$(stat -c %s /release/install.sh)
    for at in 500 3000 6000 \$((size - 12)); do
      head -c \$at /release/install.sh | sh 2>/dev/null || true
    done
    $nothing_installed"
  [ "$status" -eq 0 ]
}

@test "needs root: asks sudo for it, or says so" {
  clean_root "
    rm -f /usr/bin/sudo
    refused runuser -u nobody -- sh /release/install.sh --name 'a b'
    printf '#!/bin/sh\nprintf \"<%%s>\" \"\$@\"\n' >/usr/bin/sudo
    chmod +x /usr/bin/sudo
    runuser -u nobody -- sh /release/install.sh --name 'a b'
    $nothing_installed"
  [ "$status" -eq 0 ]
  [[ "$output" == *"run it again as root"* ]]
  [[ "$output" == *"<sh></release/install.sh><--name><a b>"* ]]
}

@test "installs the Debian package, and a second run nothing; doctor knows a release that Attestore's own key signed, and one that nobody vouches for" {
  clean_root "
    export ATTESTORE_SKIP_PREREQS=1 ATTESTORE_HOME=/tmp/root
    sh /release/install.sh
    [ \"\$(attestore --version)\" = $version ]
    dpkg -s attestore | grep -q '^Status: install ok installed'
    [ \"\$(stat -c '%U %G %a' /var/lib/attestore)\" = 'root attestore 1770' ]
    echo --- again
    sh /release/install.sh
    attestore init --standalone >/dev/null
    attestore doctor | grep \"attestore $version, signed by Attestore's release key\"
    rm -r /usr/lib/attestore/release
    attestore doctor | grep 'unknown who signed this program'"
  [ "$status" -eq 0 ]
  [[ "${output#*--- again}" == *"attestore $version is already installed"* ]]
  [[ "${output#*--- again}" != *Unpacking* ]]
}

@test "refuses checksums that another key signed" {
  clean_root "$spoilt
    cd /spoilt
    minisign -G -W -p /tmp/k.pub -s /tmp/k >/dev/null
    minisign -S -s /tmp/k -m SHA256SUMS -t 'attestore $version'
    export ATTESTORE_SKIP_PREREQS=1
    refused sh /release/install.sh
    $nothing_installed"
  [ "$status" -eq 0 ]
  [[ "$output" == *"nothing was installed"* ]]
}

@test "takes an operator's own build only when it is told their key, and doctor says whose it is" {
  clean_root "$spoilt
    cd /spoilt
    minisign -G -W -p /tmp/k.pub -s /tmp/k >/dev/null
    minisign -S -s /tmp/k -m SHA256SUMS -t 'attestore $version'
    key=\$(tail -n 1 /tmp/k.pub)
    export ATTESTORE_SKIP_PREREQS=1
    refused sh /release/install.sh --release-key \"\$key.\"
    $nothing_installed
    sh /release/install.sh --release-key \"\$key\"
    export ATTESTORE_HOME=/tmp/root
    attestore init --standalone >/dev/null
    attestore doctor | grep -F \"signed by an operator's key \$key\"
    echo --- a program that nobody signed
    printf x >>/usr/bin/attestore
    attestore doctor | grep 'differs from the signed program'"
  [ "$status" -eq 0 ]
  [[ "$output" == *"RW…), not RW"* ]]
}

@test "an operator's build that names no release key installs nothing by itself" {
  clean_root "
    sed 's/^RELEASE_KEY=.*/RELEASE_KEY=/' /release/install.sh >/tmp/install.sh
    export ATTESTORE_SKIP_PREREQS=1
    refused sh /tmp/install.sh
    $nothing_installed"
  [ "$status" -eq 0 ]
  [[ "$output" == *"an operator's own build, not an Attestore release"* ]]
}

@test "refuses checksums that were changed, and their absence" {
  clean_root "$spoilt
    sed -i 's/^./0/' /spoilt/SHA256SUMS
    export ATTESTORE_SKIP_PREREQS=1
    refused sh /release/install.sh
    rm /spoilt/SHA256SUMS.minisig
    export ATTESTORE_SKIP_PREREQS=1
    refused sh /release/install.sh
    $nothing_installed"
  [ "$status" -eq 0 ]
}

@test "refuses a package that is not the signed one" {
  clean_root "$spoilt
    printf x >>/spoilt/attestore_${version}_amd64.deb
    export ATTESTORE_SKIP_PREREQS=1
    refused sh /release/install.sh
    $nothing_installed"
  [ "$status" -eq 0 ]
  [[ "$output" == *"does not match the signed checksum"* ]]
}

@test "without minisign nothing is installed where it may not install it" {
  clean_root "
    rm /usr/bin/minisign
    export ATTESTORE_SKIP_PREREQS=1
    refused sh /release/install.sh
    $nothing_installed"
  [ "$status" -eq 0 ]
  [[ "$output" == *"minisign is missing"* ]]
}

@test "installs minisign and a container runtime where they are missing" {
  clean_root "
    mv /usr/bin/minisign /usr/bin/kept-minisign
    rm -f /usr/bin/podman /usr/bin/docker /usr/local/bin/docker
    mv /usr/bin/apt-get /usr/bin/kept-apt-get
    cat >/usr/bin/apt-get <<'EOF'
#!/bin/sh
echo \"asked: \$*\"
case \"\$*\" in
  *minisign*) cp /usr/bin/kept-minisign /usr/bin/minisign ;;
  *podman*) touch /usr/bin/podman && chmod +x /usr/bin/podman ;;
  *.deb) exec /usr/bin/kept-apt-get \"\$@\" ;;
esac
EOF
    chmod +x /usr/bin/apt-get
    sh /release/install.sh
    attestore --version"
  [ "$status" -eq 0 ]
  [ "$(grep -c '^asked: install .*minisign' <<<"$output")" -eq 1 ]
  [ "$(grep -c '^asked: install .*podman' <<<"$output")" -eq 1 ]
}

@test "leaves a newer agent alone" {
  clean_root "
    printf '#!/bin/sh\necho 99.0.0\n' >/usr/bin/attestore
    chmod +x /usr/bin/attestore
    ATTESTORE_SKIP_PREREQS=1 sh /release/install.sh
    [ \"\$(attestore --version)\" = 99.0.0 ]"
  [ "$status" -eq 0 ]
  [[ "$output" == *"newer than $version: it was kept"* ]]
}

@test "without a package manager it installs the files, in place of an installation by hand under the former names" {
  clean_root "
    rm /usr/bin/dpkg /usr/bin/apt-get /usr/bin/rpm /usr/bin/dpkg-query
    mkdir -p /etc/attestore/keys /usr/local/bin
    echo 'agent: { id: agent_1 }' >/etc/attestore/agent.yaml
    echo ats_token >/etc/attestore/keys/token
    chmod 0600 /etc/attestore/keys/token
    cp /bin/true /usr/local/bin/attestore-agent
    printf '[Service]\nExecStart=/usr/local/bin/attestore-agent\n' >/etc/systemd/system/attestore-agent.service
    for run in first second; do
      ATTESTORE_SKIP_PREREQS=1 sh /release/install.sh
      [ \"\$(attestore --version)\" = $version ]
      [ \"\$(stat -c '%U %G %a' /var/lib/attestore)\" = 'root attestore 1770' ]
      cmp /etc/systemd/system/attestore.service /release/attestore.service
      [ ! -e /usr/local/bin/attestore-agent ]
      [ ! -e /etc/systemd/system/attestore-agent.service ]
      [ \"\$(cat /var/lib/attestore/config.yaml)\" = 'agent: { id: agent_1 }' ]
      [ \"\$(cat /var/lib/attestore/keys/token)\" = ats_token ]
      [ \"\$(stat -c %a /var/lib/attestore/keys/token)\" = 600 ]
    done"
  [ "$status" -eq 0 ]
}

@test "the RPM package installs, upgrades and goes, and its root stays" {
  clean_root "
    rm -rf /run/systemd
    rpm -i --nodeps /release/attestore-$version-1.x86_64.rpm
    [ \"\$(attestore --version)\" = $version ]
    [ \"\$(stat -c '%U %G %a' /var/lib/attestore)\" = 'root attestore 1770' ]
    rpm -V --nodeps attestore
    touch /var/lib/attestore/config.yaml
    rpm -U --nodeps --force /release/attestore-$version-1.x86_64.rpm
    [ -e /var/lib/attestore/config.yaml ]
    rpm -e attestore
    [ ! -e /usr/bin/attestore ]
    [ -e /var/lib/attestore/config.yaml ]"
  [ "$status" -eq 0 ]
}
