import { posix } from "node:path";
import { text } from "node:stream/consumers";
import { plural } from "@attestore/proof";
import { RunError } from "../../errors/run-error.ts";
import { cutLines } from "../../processes/cut-lines.ts";
import { requireFresh } from "../foreign/require-fresh.ts";
import type { Restic } from "./restic.ts";
import type { ResticSettings } from "../../config/engines/restic.ts";

export interface Snapshot {
  readonly id: string;
  readonly tree: string;
  /** RFC 3339. */
  readonly time: string;
  readonly hostname: string;
}

const HEX = /^[0-9a-f]{64}$/;

/** @throws RunError, RestoreRefused */
export async function repositoryId(restic: Restic): Promise<string> {
  const config = await restic.json(["cat", "config"], "opening the repository");
  const id = textOf(config, "id");
  if (HEX.test(id)) return id;
  throw new RunError("dump_failed", "the repository reports no id");
}

/**
 * @throws RunError `source_missing` if none matches, or if the newest is too old; `dump_failed` if
 * restic cannot read one: it passes over such a snapshot, which may be the newest.
 */
export async function newestSnapshot(
  restic: Restic,
  { tags, host, max_age_s }: ResticSettings,
  now = Date.now(),
): Promise<Snapshot> {
  const filters = [
    ...(tags.length === 0 ? [] : [`--tag=${tags.join(",")}`]),
    ...(host === null ? [] : [`--host=${host}`]),
  ];
  const before = await snapshotIds(restic);
  const snapshots = await listed(restic, filters);
  const readable = new Set((filters.length === 0 ? snapshots : await listed(restic, [])).map(({ id }) => id));
  const unreadable = before.filter((id) => !readable.has(id));
  // Somebody may have forgotten snapshots meanwhile.
  const still = new Set(unreadable.length === 0 ? [] : await snapshotIds(restic));
  requireReadable(unreadable.filter((id) => still.has(id)));
  const newest = snapshots.toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time))[0];
  if (newest === undefined)
    throw new RunError("source_missing", "the repository has no snapshot that matches");
  requireFresh(`snapshot, ${newest.id.slice(0, 8)},`, Date.parse(newest.time), { max_age_s, now });
  return newest;
}

async function listed(restic: Restic, filters: readonly string[]): Promise<Snapshot[]> {
  const found = await restic.json(["snapshots", ...filters], "listing the snapshots");
  return (Array.isArray(found) ? (found as unknown[]) : []).flatMap((each) => snapshotOf(each));
}

function requireReadable(unreadable: readonly string[]): void {
  const [first] = unreadable;
  if (first === undefined) return;
  throw new RunError(
    "dump_failed",
    `restic cannot read ${plural(unreadable.length, "snapshot")} of the repository (${first.slice(0, 8)}${unreadable.length > 1 ? ", …" : ""}), ` +
      "so nobody knows whether that is the newest: run `restic check`",
  );
}

/**
 * Returns the tree of a snapshot that is named by its full id.
 * @throws RunError, RestoreRefused
 */
export async function treeOf(restic: Restic, snapshot: string): Promise<string> {
  return textOf(await restic.json(["cat", "snapshot", snapshot], "reading the snapshot"), "tree");
}

/**
 * Whether a snapshot is still among the repository's files, whatever they hold. Without it, nobody
 * can say that it is damaged.
 * @throws RunError, RestoreRefused
 */
export async function isListed(restic: Restic, snapshot: string): Promise<boolean> {
  return (await snapshotIds(restic)).includes(snapshot);
}

/** The names of the repository's files. */
async function snapshotIds(restic: Restic): Promise<string[]> {
  const child = await restic.start(["list", "snapshots"]);
  const [output, exit] = await Promise.all([text(child.stdout), child.exited]);
  if (exit.code !== 0) throw restic.failed(exit, "listing the snapshots");
  return output.split("\n").filter((line) => HEX.test(line));
}

/**
 * Requires that a dump in a snapshot is not too old either: a job may copy the same old one every
 * day.
 * @throws RunError `source_missing`; RestoreRefused
 */
export async function requireFreshFile(
  restic: Restic,
  snapshot: string,
  file: string,
  { max_age_s, now = Date.now() }: { readonly max_age_s: number | null; readonly now?: number },
): Promise<void> {
  if (max_age_s === null) return;
  // As restic lists it. Its `dump` takes other spellings too.
  const listed = posix.normalize(file).replace(/(?<=.)\/$/, "");
  const child = await restic.start(["ls", "--json", snapshot, listed]);
  let modified_ms = Number.NaN;
  try {
    for await (const line of cutLines(child.stdout)) {
      const node = parsed(line);
      if (textOf(node, "path") === listed) modified_ms = Date.parse(textOf(node, "mtime"));
    }
    const exit = await child.exited;
    if (exit.code !== 0) throw restic.failed(exit, "listing the snapshot");
  } finally {
    await child.stop();
  }
  if (Number.isNaN(modified_ms))
    throw new RunError(
      "source_missing",
      `${file} is not in the snapshot ${snapshot.slice(0, 8)}: check the source's file (restic ls shows all paths)`,
    );
  requireFresh(`dump, ${file} in the snapshot ${snapshot.slice(0, 8)},`, modified_ms, { max_age_s, now });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function snapshotOf(value: unknown): Snapshot[] {
  const snapshot = {
    id: textOf(value, "id"),
    tree: textOf(value, "tree"),
    time: textOf(value, "time"),
    hostname: textOf(value, "hostname"),
  };
  const isOne =
    HEX.test(snapshot.id) && HEX.test(snapshot.tree) && Number.isFinite(Date.parse(snapshot.time));
  return isOne ? [snapshot] : [];
}

function textOf(value: unknown, field: string): string {
  if (typeof value !== "object" || value === null) return "";
  const text = (value as Record<string, unknown>)[field];
  return typeof text === "string" ? text : "";
}
