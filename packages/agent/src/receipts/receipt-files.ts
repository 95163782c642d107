import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  envelopeFromJson,
  parseStatement,
  type Envelope,
  type ReceiptKind,
  type Statement,
} from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

/**
 * `accepted`: in the log, with its proof. `waiting`: signed and not yet submitted. `refused`: the
 * service rejected it.
 */
export type ReceiptState = "accepted" | "waiting" | "refused";

/** A receipt's file. Receipts are numbered in the order in which they were signed. */
export interface ReceiptFile {
  readonly sequence: number;
  readonly kind: ReceiptKind;
  readonly state: ReceiptState;
  readonly path: string;
}

const NAME = /^(\d{8})-(backup|restore-test)\.json$/;
const KINDS: Readonly<Record<string, ReceiptKind>> = { backup: "backup", "restore-test": "restore_test" };

/** Such as `00000012-restore-test.json`. */
export function receiptFileName(sequence: number, kind: ReceiptKind): string {
  return `${String(sequence).padStart(8, "0")}-${kind.replace("_", "-")}.json`;
}

/** Beside a refused receipt: why it was refused. Of a name or a path. */
export function answerOf(receipt: string): string {
  return receipt.replace(/json$/, "answer.json");
}

export function receiptDirectory(layout: Layout, state: ReceiptState): string {
  switch (state) {
    case "accepted":
      return layout.receipts;
    case "waiting":
      return layout.receiptsWaiting;
    case "refused":
      return layout.receiptsRefused;
  }
}

/** The receipts in one state, oldest first. */
export async function listReceipts(layout: Layout, state: ReceiptState): Promise<ReceiptFile[]> {
  const directory = receiptDirectory(layout, state);
  const found: ReceiptFile[] = [];
  for (const name of (await readdir(directory)).toSorted()) {
    const [, digits = "", word = ""] = NAME.exec(name) ?? [];
    const kind = KINDS[word];
    if (kind !== undefined)
      found.push({ sequence: Number(digits), kind, state, path: join(directory, name) });
  }
  return found;
}

/**
 * All receipts, newest first. A receipt that a crash left in two places counts once: accepted or
 * refused takes precedence over waiting.
 */
export async function listAllReceipts(layout: Layout): Promise<ReceiptFile[]> {
  const bySequence = new Map<number, ReceiptFile>();
  for (const state of ["waiting", "refused", "accepted"] as const)
    for (const file of await listReceipts(layout, state)) bySequence.set(file.sequence, file);
  return [...bySequence.values()].toSorted((a, b) => b.sequence - a.sequence);
}

/**
 * Reads the signed envelope of a receipt's file in any state. Throws ProofError if the file is
 * damaged.
 */
export async function readEnvelope(file: ReceiptFile): Promise<Envelope> {
  const value = await readReceipt(file);
  if (typeof value === "object" && value !== null && "payload" in value) return envelopeFromJson(value);
  if (typeof value !== "object" || value === null || !("envelope" in value))
    throw new Error(`${file.path} is not the file of a receipt`);
  return envelopeFromJson(value.envelope);
}

/**
 * A listed waiting file may have been submitted since. It gets its new name before the old one
 * goes, so look there next.
 */
async function readReceipt({ state, path }: ReceiptFile): Promise<unknown> {
  const value = await readJson(path);
  if (value !== null || state !== "waiting") return value;
  const [receipts, name] = [join(dirname(path), ".."), basename(path)];
  return (await readJson(join(receipts, name))) ?? readJson(join(receipts, "refused", name));
}

/** The receipt's statement; null if its payload is not a valid statement. */
export async function readStatement(file: ReceiptFile): Promise<Statement | null> {
  const parsed = parseStatement((await readEnvelope(file)).payload);
  return parsed.ok ? parsed.statement : null;
}
