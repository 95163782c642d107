import { runProgram } from "./run-program.ts";
import type { PostgresUser } from "./postgres-user.ts";

export interface Mount {
  from: string;
  to: string;
}

export interface LaunchContext {
  /** The user to drop to; null keeps the current user. */
  user: PostgresUser | null;
  /** Bind mounts that only the launched program sees. */
  mounts: Mount[];
}

export interface LaunchCommand {
  file: string;
  args: string[];
}

const MOUNT_SCRIPT =
  'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 1; shift 2; done; shift; exec "$@"';

/**
 * The command line that runs a program as the unprivileged user and has the kernel interrupt it
 * when we die. Each step replaces the one before (exec), so the pid is the program's. setpriv sets
 * the signal last, because changing the user would clear it; SIGINT is PostgreSQL's fast shutdown.
 */
export function launchCommand(context: LaunchContext, program: string, args: string[]): LaunchCommand {
  const drop =
    context.user === null
      ? []
      : [
          "--reuid",
          String(context.user.uid),
          "--regid",
          String(context.user.gid),
          "--clear-groups",
          "--inh-caps=-all",
          "--bounding-set=-all",
          "--no-new-privs",
        ];
  const setpriv = ["setpriv", ...drop, "--pdeathsig", "INT", "--", program, ...args];
  if (context.mounts.length === 0) return split(setpriv);
  const pairs = context.mounts.flatMap((mount) => [mount.from, mount.to]);
  return split([
    "unshare",
    "--mount",
    "--propagation",
    "private",
    "--",
    "sh",
    "-c",
    MOUNT_SCRIPT,
    "sh",
    ...pairs,
    "--",
    ...setpriv,
  ]);
}

function split([file = "", ...args]: string[]): LaunchCommand {
  return { file, args };
}

/**
 * Whether the program's user can do what `test` asks ("-x", "-r") at a path. The kernel answers, so
 * ACLs and the like count.
 */
export async function canAccess(
  context: LaunchContext,
  question: "-x" | "-r",
  path: string,
): Promise<boolean> {
  const { file, args } = launchCommand(context, "test", [question, path]);
  return (await runProgram(file, args)).exitCode === 0;
}
