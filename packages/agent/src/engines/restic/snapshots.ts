import { RunError } from "../../errors/run-error.ts";
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

/** @throws RunError `source_missing` if none matches, or if the newest is too old. */
export async function newestSnapshot(
  restic: Restic,
  { tags, host, max_age_s }: ResticSettings,
  now = Date.now(),
): Promise<Snapshot> {
  const filters = [
    ...(tags.length === 0 ? [] : [`--tag=${tags.join(",")}`]),
    ...(host === null ? [] : [`--host=${host}`]),
  ];
  const listed = await restic.json(["snapshots", ...filters], "listing the snapshots");
  const snapshots = (Array.isArray(listed) ? (listed as unknown[]) : []).flatMap((each) => snapshotOf(each));
  const newest = snapshots.toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time))[0];
  if (newest === undefined)
    throw new RunError("source_missing", "the repository has no snapshot that matches");
  requireFresh(`snapshot, ${newest.id.slice(0, 8)},`, Date.parse(newest.time), { max_age_s, now });
  return newest;
}

/**
 * Returns the tree of a snapshot that is named by its full id.
 * @throws RunError, RestoreRefused
 */
export async function treeOf(restic: Restic, snapshot: string): Promise<string> {
  return textOf(await restic.json(["cat", "snapshot", snapshot], "reading the snapshot"), "tree");
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
