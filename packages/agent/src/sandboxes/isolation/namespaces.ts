import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute } from "node:path";
import type { Socket } from "node:net";
import { isSea } from "node:sea";
import { findProgram } from "../../processes/find-program.ts";
import { unprivilegedUser, type User } from "../../processes/unprivileged-user.ts";
import { SERVE_COMMAND } from "./commands.ts";
import { DIRECT } from "./frames.ts";
import { raiseOomScore } from "../process/oom-score.ts";
import { ownProgramAt, programDirectory } from "../../processes/own-program.ts";
import type { SandboxStream } from "./remote-place.ts";

const INSIDE = "/run/attestore";
export const NAMESPACE_HOME = `${INSIDE}/data`;
const EXECUTABLE = `${INSIDE}/attestore`;
const PROGRAM = `${INSIDE}/program`;
export const NAMESPACE_SOCKETS = `${INSIDE}/sockets`;
/** Anybody may write there. */
const SHARED = ["/tmp", "/var/tmp", "/dev/shm"];

/**
 * Runs as the first process of new mount, process, network and IPC namespaces, as their root. The
 * rest of the file system is read-only, without the places that have sockets of others and files of
 * ours.
 *
 * sh SCRIPT DIRECTORY EXECUTABLE PROGRAM OWNER KEPT… -- HIDDEN… -- COMMAND…
 *
 * The KEPT are directories with programs: they stay where they are, although their surroundings are
 * hidden.
 */
const SCRIPT = `set -eu
data=$1 executable=$2 program=$3 owner=$4
shift 4
mount -t tmpfs -o mode=0755,size=4m,nosuid,nodev attestore /run
mkdir ${INSIDE} ${NAMESPACE_HOME} ${NAMESPACE_SOCKETS}
mount --bind "$data" ${NAMESPACE_HOME}
mount -o remount,bind,nosuid,nodev ${NAMESPACE_HOME}
: >${EXECUTABLE}
mount --bind "$executable" ${EXECUTABLE}
if [ -n "$program" ]; then
  mkdir ${PROGRAM}
  mount --bind "$program" ${PROGRAM}
fi
[ "$owner" = - ] || chown "$owner" ${NAMESPACE_SOCKETS}
kept=0
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then
    kept=$((kept + 1))
    mkdir ${INSIDE}/kept-$kept
    mount --bind "$1" ${INSIDE}/kept-$kept
    printf '%s\n' "$1" >${INSIDE}/kept-$kept.path
  fi
  shift
done
shift
for each in ${SHARED.join(" ")}; do
  if [ -d "$each" ]; then mount -t tmpfs -o mode=1777,size=64m,nosuid,nodev attestore "$each"; fi
done
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mount -t tmpfs -o mode=0711,size=1m,nosuid,nodev attestore "$1"; fi
  shift
done
shift
while [ $kept -gt 0 ]; do
  read -r path <${INSIDE}/kept-$kept.path
  mkdir -p "$path"
  mount --bind ${INSIDE}/kept-$kept "$path"
  kept=$((kept - 1))
done
mounts=$(cat /proc/self/mounts)
while read -r _ target _ options _; do
  case $target in
    ${INSIDE}/data | /run | /tmp | /var/tmp | /dev | /dev/* | /proc | /proc/* | /sys | /sys/*) continue ;;
  esac
  flags=
  for option in nosuid nodev noexec noatime relatime nodiratime; do
    case ,$options, in *,$option,*) flags=$flags,$option ;; esac
  done
  mount -o "remount,bind,ro$flags" "$(printf '%b' "$target")" 2>/dev/null || [ "$target" != / ]
done <<MOUNTS
$mounts
MOUNTS
# mount(8) keeps its notes there.
rm -rf /run/mount
exec "$@"
`;

export interface NamespaceRequest {
  /** Our own empty directory for the restored data. */
  readonly directory: string;
  /** Also ours, with keys in it: must not be visible in there. */
  readonly root: string;
  /** With the customer's programs, which must be visible. */
  readonly programs: readonly string[];
}

/**
 * Starts a sandbox in namespaces of its own. If we are root, its programs run as another user;
 * otherwise as ourselves, in a user namespace. It ends with this process, however that ends. Null
 * if the kernel or this process may not make namespaces.
 */
export async function enterNamespaces({
  directory,
  root,
  programs,
}: NamespaceRequest): Promise<SandboxStream | null> {
  for (const name of ["unshare", "setpriv", "prlimit", "mount", "du"])
    if ((await findProgram(name)) === null) return null;
  const user = await unprivilegedUser();
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (user !== null) await chown(directory, user.uid, user.gid);
  const becomeOther =
    user === null
      ? ["unshare", "--user", `--map-user=${uid}`, `--map-group=${gid}`, "--", "setpriv"]
      : await becomeUser(user);
  const hidden = [root, ...(isSea() && user === null ? [homedir()] : [])].filter(
    (path) => dirname(path) !== path,
  );
  const child = spawn(
    "setpriv",
    [
      "--pdeathsig",
      "KILL",
      "--",
      "unshare",
      ...(user === null ? ["--user", "--map-root-user"] : []),
      ..."--net --mount --pid --ipc --fork --kill-child=KILL --mount-proc -- sh -c".split(" "),
      SCRIPT,
      "sh",
      directory,
      process.execPath,
      programDirectory() ?? "",
      user === null ? "-" : `${user.uid}:${user.gid}`,
      ...directoriesKept(programs, root),
      "--",
      ...hidden,
      "--",
      ...becomeOther,
      ..."--no-new-privs --pdeathsig KILL --".split(" "),
      ...ownProgramAt(EXECUTABLE, PROGRAM),
      SERVE_COMMAND,
    ],
    {
      // The last one is the sandbox's `DIRECT`.
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      detached: true,
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8" },
    },
  );
  const closed = once(child, "close");
  raiseOomScore(child.pid);
  child.stderr.resume();
  child.stdin.on("error", () => undefined);
  const direct = child.stdio[DIRECT] as Socket;
  direct.on("error", () => undefined);
  const begun = await Promise.race([
    once(child.stdout, "readable").then(() => child.stdout.readableLength > 0),
    closed.then(() => false),
  ]);
  if (!begun) {
    direct.destroy();
    await closed;
    return null;
  }
  return {
    ...(child.pid === undefined ? {} : { pid: child.pid }),
    input: child.stdin,
    output: child.stdout,
    direct,
    close: async () => {
      child.kill("SIGKILL");
      child.stdout.resume();
      direct.destroy();
      await closed;
    },
  };
}

/**
 * In a user namespace of its own if the kernel lets that user make one: the kernel counts a user's
 * processes separately in each such namespace. Otherwise one dump that forks without end would use
 * up the processes of every other restore, and of everything else that runs as that user.
 */
async function becomeUser({ uid, gid }: User): Promise<string[]> {
  const change = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--inh-caps=-all"];
  const own = [...change, "--", "unshare", "--user", `--map-user=${uid}`, `--map-group=${gid}`, "--"];
  const tried = spawn("setpriv", [...own.slice(1), "true"], { stdio: "ignore", cwd: "/" });
  const [code] = (await once(tried, "close")) as [number | null];
  return code === 0 ? [...own, "setpriv"] : change;
}

/**
 * Directories with programs that would be hidden with their surroundings; never one that contains
 * the keys.
 */
function directoriesKept(programs: readonly string[], root: string): string[] {
  const around = [...SHARED, "/run", homedir(), root];
  const candidates = [...(process.env["PATH"] ?? "").split(delimiter), ...programs];
  return [...new Set(candidates)].filter(
    (path) =>
      isAbsolute(path) &&
      around.some((each) => path.startsWith(`${each}/`)) &&
      !`${root}/`.startsWith(`${path}/`) &&
      !path.startsWith(`${root}/keys`),
  );
}
