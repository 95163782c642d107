import { accessSync, constants, existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";

/** How the root was chosen; `doctor` prints it. */
export type RootBranch =
  | "--root"
  | "ATTESTORE_HOME"
  | "walked up from the current directory"
  | "XDG_STATE_HOME"
  | "HOME/.local/state"
  | "/var/lib/attestore";

export interface ResolvedRoot {
  readonly path: string;
  readonly branch: RootBranch;
}

export interface RootSurroundings {
  readonly flag: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** 0 for the superuser. */
  readonly uid: number;
  /** For tests; `/var/lib/attestore` by default. */
  readonly systemRoot?: string;
}

/**
 * The install root: the first match (interface specification, agent distribution, item 6). `--root`
 * and ATTESTORE_HOME match if they are given; every other place matches if it contains a
 * config.yaml.
 * @throws UserError root_missing that names every place that was checked.
 */
export function resolveRoot(surroundings: RootSurroundings): ResolvedRoot {
  const { explicit, candidates } = places(surroundings);
  if (explicit !== null) return explicit;
  const hit = candidates.find(({ path }) => existsSync(join(path, "config.yaml")));
  if (hit !== undefined) return hit;
  const looked = [
    `${surroundings.cwd} and above`,
    ...candidates.filter((place) => place.branch !== WALKED).map((place) => place.path),
  ];
  const closed = candidates.find(({ path }) => isClosed(path));
  if (closed !== undefined)
    throw new UserError(
      "root_missing",
      `${closed.path} may be looked into by root and the agent only: run it with sudo`,
    );
  throw new UserError(
    "root_missing",
    `there is no attestore here: no config.yaml in ${looked.join(", ")}. ` +
      "Attach this host with `attestore init --service URL`, or name an existing root with --root DIR.",
  );
}

/**
 * The root that `init` writes to, in the same order. Without a match it is /var/lib/attestore for
 * root, and the state directory for everybody else.
 */
export function resolveRootForInit(surroundings: RootSurroundings): ResolvedRoot {
  const { explicit, candidates } = places(surroundings);
  if (explicit !== null) return explicit;
  const hit = candidates.find(({ path }) => existsSync(join(path, "config.yaml")));
  if (hit !== undefined) return hit;
  const fresh = candidates.filter((place) => place.branch !== WALKED);
  const chosen = surroundings.uid === 0 ? fresh.at(-1) : fresh[0];
  if (chosen === undefined) throw new UserError("root_missing", "name a root with --root DIR");
  return chosen;
}

/** Whether it exists, and this user may not see its content. */
function isClosed(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return false;
  } catch {
    return true;
  }
}

const WALKED: RootBranch = "walked up from the current directory";

function places(surroundings: RootSurroundings): {
  explicit: ResolvedRoot | null;
  candidates: ResolvedRoot[];
} {
  const { flag, env, cwd } = surroundings;
  if (flag === "") throw new UserError("usage", "--root needs a directory");
  if (flag !== undefined) return { explicit: { path: resolve(cwd, flag), branch: "--root" }, candidates: [] };
  const home = env["ATTESTORE_HOME"];
  if (home !== undefined && home !== "") {
    return { explicit: { path: resolve(cwd, home), branch: "ATTESTORE_HOME" }, candidates: [] };
  }
  const candidates: ResolvedRoot[] = ancestors(cwd).map((path) => ({ path, branch: WALKED }));
  const xdg = env["XDG_STATE_HOME"];
  const user = env["HOME"];
  // The XDG specification says to ignore a relative path.
  if (xdg !== undefined && isAbsolute(xdg)) {
    candidates.push({ path: join(xdg, "attestore"), branch: "XDG_STATE_HOME" });
  } else if (user !== undefined && isAbsolute(user)) {
    candidates.push({ path: join(user, ".local/state/attestore"), branch: "HOME/.local/state" });
  }
  candidates.push({
    path: surroundings.systemRoot ?? "/var/lib/attestore",
    branch: "/var/lib/attestore",
  });
  return { explicit: null, candidates };
}

function ancestors(start: string): string[] {
  const found: string[] = [];
  for (let path = resolve(start); ; path = dirname(path)) {
    found.push(path);
    if (dirname(path) === path) return found;
  }
}
