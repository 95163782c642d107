import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { notOurs, readTar, type TarEntry } from "./tar.ts";

/** Describes a backup of the service; the first entry of its archive. */
export interface BackupManifest {
  format: typeof FORMAT;
  created_at: string;
  /** Version of attestore-server. */
  service: string;
  /** Of the database. */
  postgresql: string;
  pg_dump: string;
  /** Number of the last migration. */
  migration: number;
  log_host: string;
  /** Public key of the logs, in base64. */
  log_key: string;
  logs: LogsDigest;
}

/** All logs together. Equal digests mean equal trees. */
export interface LogsDigest {
  logs: number;
  entries: number;
  /** Of a line for each log, `origin size root`, in the order of their bytes. */
  sha256: string;
}

export const FORMAT = "attestore-service-backup-1";
export const MANIFEST = "backup.json";
export const SETTINGS_ENTRY = "settings.json";
export const SUMS = "SHA256SUMS";
const DUMP = "database.dump.";
const KEPT = /^(?:keys|tls)\/[a-z][a-z0-9-]*\.[a-z]+$/;

export function isPiece(name: string): boolean {
  return name.startsWith(DUMP);
}

/** The dump is cut up, because a tar has to say a file's size before the file. Counted from 1. */
export function pieceName(number: number): string {
  return `${DUMP}${String(number).padStart(6, "0")}`;
}

/** A file of the data directory that a backup has. */
export function isKeptFile(name: string): boolean {
  return KEPT.test(name);
}

export async function readLogsDigest(client: ClientBase): Promise<LogsDigest> {
  const { rows } = await client.query<LogsDigest>(
    `select count(*)::int as logs, coalesce(sum(tree_size), 0)::float8 as entries,
      encode(sha256(convert_to(coalesce(string_agg(
        origin || ' ' || tree_size || ' ' || encode(root_hash, 'hex') || E'\\n', '' order by origin collate "C"), ''), 'UTF8')), 'hex') as sha256
     from logs`,
  );
  const [digest] = rows;
  if (digest === undefined) throw new Error("an aggregate returned no row");
  return digest;
}

/** Adds up what `sha256sum --check` looks at. */
export class Sums {
  readonly #lines: string[] = [];

  add({ name, content }: TarEntry): void {
    this.#lines.push(`${createHash("sha256").update(content).digest("hex")}  ${name}\n`);
  }

  text(): string {
    return this.#lines.join("");
  }
}

/**
 * Hands on each entry but the sums, whose end says that all of them were as they were written.
 * @throws UserError `invalid_argument`
 */
export async function readContents(
  archive: AsyncIterable<Uint8Array>,
  take: (entry: TarEntry) => Promise<void>,
): Promise<BackupManifest> {
  const sums = new Sums();
  let manifest: BackupManifest | null = null;
  let pieces = 0;
  let isWhole = false;
  for await (const entry of readTar(archive)) {
    const { name, content } = entry;
    if (isWhole) throw notOurs(`${name} after its sums`);
    if (manifest === null) manifest = parseManifest(entry);
    else if (name === SUMS) {
      if (content.toString("utf8") !== sums.text()) throw notOurs("a wrong sum");
      isWhole = true;
      continue;
    } else if (name === pieceName(pieces + 1)) pieces += 1;
    else if (pieces > 0 || (name !== SETTINGS_ENTRY && !isKeptFile(name))) throw notOurs(`${name} in it`);
    sums.add(entry);
    await take(entry);
  }
  if (manifest === null || pieces === 0 || !isWhole) throw notOurs("a part is missing");
  return manifest;
}

function parseManifest({ name, content }: TarEntry): BackupManifest {
  if (name !== MANIFEST) throw notOurs(`it does not begin with ${MANIFEST}`);
  let value: unknown;
  try {
    value = JSON.parse(content.toString("utf8"));
  } catch {
    throw notOurs(`${MANIFEST} cannot be read`);
  }
  const read = value as Partial<Record<keyof BackupManifest, unknown>> | null;
  if (read?.format !== FORMAT) throw notOurs(`${MANIFEST} says another format`);
  const logs = read.logs as Partial<Record<keyof LogsDigest, unknown>> | null;
  const texts = [
    read.created_at,
    read.service,
    read.postgresql,
    read.pg_dump,
    read.log_host,
    read.log_key,
    logs?.sha256,
  ];
  const counts = [read.migration, logs?.logs, logs?.entries];
  const fits =
    texts.every((text) => typeof text === "string" && /^[ -~]{1,300}$/.test(text)) &&
    counts.every((count) => typeof count === "number" && Number.isSafeInteger(count) && count >= 0);
  if (!fits) throw notOurs(`${MANIFEST} has another form`);
  return read as BackupManifest;
}
