#!/bin/sh
# Boots systemd on a copy of this machine's file system that is thrown away: an overlay in memory, in namespaces of its own.
# The network is the machine's. Ends when its standard input does, and nothing of it is left.
#
# usage: throwaway-system.sh DIR     DIR is where it is put together; an empty directory
set -eu

if [ "${2:-}" != inside ]; then
  # A part of the cgroup tree to hold what is started, seen as the whole of it from within.
  if [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then tree=/sys/fs/cgroup; else tree=/sys/fs/cgroup/systemd; fi
  group=$tree/attestore-throwaway-$$
  mkdir "$group"
  echo $$ >"$group/cgroup.procs"
  unshare --mount --pid --uts --ipc --cgroup --fork --kill-child=KILL "$0" "$1" inside </dev/null &
  child=$!
  # Until whoever started this goes away.
  cat >/dev/null || true
  kill -KILL "$(cat "/proc/$child/task/$child/children")" 2>/dev/null || true
  wait "$child" 2>/dev/null || true
  echo $$ >"$tree/cgroup.procs"
  find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
  exit 0
fi

mount --make-rprivate /
mount -t tmpfs -o size=6g throwaway "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" throwaway "$1/root"
cd "$1/root"

mount -t proc proc proc
# Its sysctl settings would be the machine's.
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=0755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=0755 tmpfs dev
for node in null zero full random urandom tty; do
  touch dev/$node
  mount --bind /dev/$node dev/$node
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=1777 tmpfs dev/shm
if [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then
  mount -t cgroup2 cgroup2 sys/fs/cgroup
else
  mount -t tmpfs -o mode=0755 tmpfs sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd,xattr cgroup sys/fs/cgroup/systemd
fi

# Only what a unit needs: none of this machine's own services.
rm -rf etc/systemd/system/*.wants etc/systemd/system/*.requires
mkdir -p etc/systemd/system/multi-user.target.wants
cat >etc/systemd/system/throwaway.target <<'EOF'
[Unit]
Requires=systemd-journald.service dbus.socket
Wants=multi-user.target
After=systemd-journald.service dbus.socket
DefaultDependencies=no
EOF
# Container images have one that keeps packages from starting anything.
rm -f usr/sbin/policy-rc.d
# Nor is every manual page of this machine indexed anew at each installation.
rm -f var/lib/man-db/auto-update
hostname throwaway
: >etc/machine-id

exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
  chroot . /lib/systemd/systemd --unit=throwaway.target --log-target=console --show-status=no
