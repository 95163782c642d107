import { open, realpath, stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";

/** Each attempt fails if somebody opens or changes the database meanwhile. */
const ATTEMPTS = 3;
/** Where the version of the format for readers is, and that of a database in WAL mode. */
const [READ_VERSION_AT, WAL] = [19, 2];

export interface UnopenedWal {
  /** Opens the file as one that nobody changes: SQLite needs no other file for it. */
  readonly uri: string;
  /** Changes if somebody opens or changes the database. */
  readonly state: string;
}

/**
 * A database in WAL mode whose rows are all in its file, because nobody has it open; null for
 * every other. To read it in the usual way, SQLite would create FILE-wal and FILE-shm. An agent
 * that may only read could not read it then. One that may create files would leave these behind as
 * its own, and the database's application could not write to them.
 */
export async function unopenedWal(path: string): Promise<UnopenedWal | null> {
  const real = await realpath(path);
  const [file, wal, shm, journal] = await Promise.all(
    ["", "-wal", "-shm", "-journal"].map((suffix) =>
      stat(`${real}${suffix}`, { bigint: true }).catch(() => null),
    ),
  );
  if (!file || journal || (wal && (wal.size > 0n || shm)) || !(await isWal(real))) return null;
  const uri = pathToFileURL(real);
  uri.searchParams.set("immutable", "1");
  const { ino, size, mtimeNs, ctimeNs } = file;
  return { uri: uri.href, state: [ino, size, mtimeNs, ctimeNs, wal?.ctimeNs].join(" ") };
}

/**
 * Null if the database is another one, or somebody has it open by now: then SQLite can read it in
 * the usual way.
 */
export async function whileUnopened<Result>(
  path: string,
  read: (uri: string) => Promise<Result>,
): Promise<{ readonly result: Result } | null> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await unopenedWal(path);
    if (before === null) return null;
    const result = await read(before.uri);
    const after = await unopenedWal(path);
    if (after?.state === before.state) return { result };
  }
  return null;
}

async function isWal(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, READ_VERSION_AT);
    return bytesRead === 1 && buffer[0] === WAL;
  } finally {
    await file.close();
  }
}
