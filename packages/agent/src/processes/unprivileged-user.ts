import { readFile } from "node:fs/promises";
import { RunError } from "../errors/run-error.ts";

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * The packages' own user first, which owns nothing. `nobody` before `postgres`: whatever a restored
 * dump runs must not reach the files of a real server on this host.
 */
const CANDIDATES = ["attestore-sandbox", "nobody", "postgres"];

/**
 * The user that runs a scratch server: null for the current one, unless that is root, which
 * PostgreSQL refuses.
 */
export async function unprivilegedUser(): Promise<User | null> {
  if (process.getuid?.() !== 0) return null;
  const accounts = new Map<string, User>();
  for (const line of (await readFile("/etc/passwd", "utf8")).split("\n")) {
    const [name = "", , uid, gid] = line.split(":");
    if (CANDIDATES.includes(name)) accounts.set(name, { name, uid: Number(uid), gid: Number(gid) });
  }
  for (const name of CANDIDATES) {
    const user = accounts.get(name);
    if (user !== undefined && user.uid > 0) return user;
  }
  throw new RunError(
    "sandbox_failed",
    `root must start the scratch server as another user, but none of ${CANDIDATES.join(", ")} exists: add one`,
  );
}
