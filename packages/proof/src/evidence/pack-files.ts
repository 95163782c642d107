import { tilePath, TILE_WIDTH } from "../tiles/tile-path.ts";

/**
 * The name of the evidence pack format, in the manifest and in the note that the log's key signs.
 */
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

/** Path of a receipt with its proof, by the receipt's id. */
export const receiptFile = (id: string): string => `receipts/${id}.json`;
/** Path of an event with its proof, by the event's id. */
export const eventFile = (id: string): string => `events/${id}.json`;
/** Path of the key that an agent signs with now, by the agent's id. */
export const agentKeyFile = (id: string): string => `keys/${id}.pub`;
/** Path of a key that an agent signed with before. `number` counts from 1, the oldest. */
export const earlierKeyFile = (id: string, number: number): string => `keys/${id}.${number}.pub`;
/** Path of the leaf and proof of the receipt that precedes an agent's first receipt in the pack. */
export const predecessorFile = (id: string): string => `predecessors/${id}.json`;
/** Path of a file of scheduled runs, with at most RUNS_IN_FILE runs. `number` counts from 0. */
export const runsFile = (number: number): string => `runs/${String(number).padStart(6, "0")}.jsonl`;
export const RUNS_IN_FILE = 1000;

/** Path of the entry bundle that begins at leaf `first`, a multiple of 256 (C2SP tlog-tiles). */
export function entriesFile(first: number, count: number): string {
  return `log/${tilePath({ level: "entries", index: first / TILE_WIDTH, width: count })}`;
}

/**
 * The text of the signed note manifest.note, which the log's key signs. Its second line is not a
 * number, so nobody can read it as a checkpoint.
 */
export function manifestNoteText(origin: string, manifestSha256: string): string {
  return `${EVIDENCE_FORMAT}\n${origin}\n${manifestSha256}\n`;
}
