import { readFile, stat } from "node:fs/promises";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { UserError } from "../errors/user-error.ts";

export interface PostgresUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * In this order: the user that Debian's own PostgreSQL runs as, then the one that every system has.
 */
const CANDIDATES = ["postgres", "nobody"];

/**
 * The user to drop to before PostgreSQL starts, or null if we are not root: PostgreSQL refuses to
 * run as root. For an existing cluster it is the owner, so that installing Debian's PostgreSQL
 * later does not change the user of ours.
 */
export async function choosePostgresUser(
  clusterDirectory: string,
  wanted?: string,
): Promise<PostgresUser | null> {
  const own = process.geteuid?.();
  const owner = await ownerOf(clusterDirectory);
  if (own !== 0) {
    if (owner === null || owner === own) return null;
    throw new UserError(
      "data_directory",
      `${clusterDirectory} belongs to user ${await nameOf(owner)}, but this process runs as ${await nameOf(own ?? -1)}. Run it as ${await nameOf(owner)} or as root.`,
    );
  }
  const users = await readPasswd();
  if (owner !== null && owner !== 0) {
    const user = users.find((candidate) => candidate.uid === owner);
    if (user !== undefined) return user;
    throw new UserError(
      "data_directory",
      `${clusterDirectory} belongs to user id ${owner}, which has no entry in /etc/passwd. PostgreSQL needs one: add the user or chown the directory.`,
    );
  }
  for (const name of wanted === undefined ? CANDIDATES : [wanted]) {
    const user = users.find((candidate) => candidate.name === name && candidate.uid !== 0);
    if (user !== undefined) return user;
  }
  throw new UserError(
    "postgres_missing",
    wanted === undefined
      ? `PostgreSQL does not run as root, and neither user ${CANDIDATES.join(" nor ")} exists. Run the service as an unprivileged user, or set ATTESTORE_POSTGRES_USER to one.`
      : `ATTESTORE_POSTGRES_USER is ${wanted}, which is not an unprivileged user of this system (/etc/passwd).`,
  );
}

async function ownerOf(path: string): Promise<number | null> {
  return (await nullIfMissing(stat(path)))?.uid ?? null;
}

async function nameOf(uid: number): Promise<string> {
  return (await readPasswd()).find((user) => user.uid === uid)?.name ?? String(uid);
}

async function readPasswd(): Promise<PostgresUser[]> {
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n");
  return lines.flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    if (name === undefined || name === "" || uid === undefined || gid === undefined) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}
