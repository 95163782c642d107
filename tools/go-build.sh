# Sourced by the scripts that build a Go program which Debian does not have. Needs Debian's golang-1.19-go; git is not needed. The compiler
# that those programs ask for comes from the Go module proxy as well.
#
# Gives: $directory, where finished programs are kept; $scratch, which goes with the script; begin_build, which makes it and gets
# the compiler; go, which runs that compiler.
# Takes: ATTESTORE_GO_CACHE, a directory of the caller's that several builds share, for the compiler, modules and compiled packages.
# shellcheck shell=sh

toolchain=v0.0.1-go1.25.5.linux-amd64
directory=${XDG_CACHE_HOME:-$HOME/.cache}/attestore

# Nothing of the user's own Go settings, except how the network is reached.
in_go_environment() {
  env -i PATH=/usr/bin:/bin HOME="$scratch" GOPATH="$cache/gopath" GOCACHE="$cache/compiled" GOTMPDIR="$scratch" \
    GOFLAGS="-modcacherw -trimpath" GOTOOLCHAIN=local CGO_ENABLED=0 \
    ${GOPROXY:+GOPROXY="$GOPROXY"} ${GOSUMDB:+GOSUMDB="$GOSUMDB"} \
    ${HTTPS_PROXY:+HTTPS_PROXY="$HTTPS_PROXY"} ${https_proxy:+https_proxy="$https_proxy"} ${NO_PROXY:+NO_PROXY="$NO_PROXY"} \
    ${SSL_CERT_FILE:+SSL_CERT_FILE="$SSL_CERT_FILE"} ${SSL_CERT_DIR:+SSL_CERT_DIR="$SSL_CERT_DIR"} \
    "$@"
}

begin_build() {
  mkdir -p "$directory"
  scratch=$(mktemp -d "$directory/building.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 1' HUP INT TERM
  cache=${ATTESTORE_GO_CACHE:-$scratch}
  (cd "$scratch" && in_go_environment /usr/lib/go-1.19/bin/go mod download "golang.org/toolchain@$toolchain") >&2
  goroot=$cache/gopath/pkg/mod/golang.org/toolchain@$toolchain
  # Files of a module are never executable.
  chmod -R u+x "$goroot/bin" "$goroot/pkg/tool"
}

go() { in_go_environment "$goroot/bin/go" "$@"; }
