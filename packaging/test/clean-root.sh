#!/bin/sh
# Runs a script in a copy of this machine's file system that is thrown away, without systemd. RELEASE is /release in it.
#
# usage: clean-root.sh SCRIPT
set -eu

if [ "${2:-}" != inside ]; then exec unshare --mount --pid --fork --kill-child=KILL "$0" "$1" inside; fi

base=$(mktemp -d)
mount --make-rprivate /
mount -t tmpfs -o size=2g clean "$base"
mkdir "$base/upper" "$base/work" "$base/root"
mount -t overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" clean "$base/root"
cd "$base/root"
mount -t proc proc proc
mount --bind /dev dev
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=0755 tmpfs run
mkdir release
mount --bind "$RELEASE" release
mount -o remount,bind,ro release
# What this machine may have of it.
rm -rf etc/attestore var/lib/attestore etc/systemd/system/attestore*
# Nor is every manual page of this machine indexed anew at each installation.
rm -f var/lib/man-db/auto-update
set +e
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 ATTESTORE_DOWNLOADS_URL=file:///release \
  chroot . sh -euc "$1" </dev/null
