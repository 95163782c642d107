import { tilePath, TILE_WIDTH } from "../tiles/tile-path.ts";

/** Names the format of an evidence pack, in its manifest and in what the log's key signs of it. */
export const EVIDENCE_FORMAT = "https://attestore.dev/evidence/v1";

/** The files that every pack has, by their paths in the ZIP. */
export const PACK_FILES = {
  readme: "README.txt",
  index: "index.html",
  summary: "summary.json",
  controls: "controls.json",
  policy: "policy.json",
  agents: "keys/agents.json",
  logKey: "keys/log.vkey",
  timeKey: "keys/time.vkey",
  checkpoint: "log/checkpoint",
  range: "log/range.json",
  manifest: "manifest.json",
  manifestNote: "manifest.note",
} as const;

export const receiptFile = (id: string): string => `receipts/${id}.json`;
export const eventFile = (id: string): string => `events/${id}.json`;
export const agentKeyFile = (id: string): string => `keys/${id}.pub`;
/** Of the keys that an agent signed with before; `number` counts from 1, the oldest. */
export const earlierKeyFile = (id: string, number: number): string => `keys/${id}.${number}.pub`;
/** The leaf of the receipt from before the pack that an agent's first one in it follows on, with its proof. */
export const predecessorFile = (id: string): string => `predecessors/${id}.json`;
/** Scheduled runs, at most RUNS_IN_FILE to a file; `number` counts from 0. */
export const runsFile = (number: number): string => `runs/${String(number).padStart(6, "0")}.jsonl`;
export const RUNS_IN_FILE = 1000;

/** The bundle of entries of the log that begins at leaf `first`, a multiple of 256 (C2SP tlog-tiles). */
export function entriesFile(first: number, count: number): string {
  return `log/${tilePath({ level: "entries", index: first / TILE_WIDTH, width: count })}`;
}

/**
 * The text of the signed note manifest.note: what the log's key signs of a pack. Its second line is no number, so that nobody can
 * read it as a checkpoint.
 */
export function manifestNoteText(origin: string, manifestSha256: string): string {
  return `${EVIDENCE_FORMAT}\n${origin}\n${manifestSha256}\n`;
}
