import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { envelopeFromJson, ProofError, sha256, toHex, type Envelope } from "@attestore/proof";
import { waitForLock } from "../state/lock.ts";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";
import { listAllReceipts, readEnvelope } from "./receipt-files.ts";

/**
 * One signed statement of this agent: receipts and signed events share one chain and one numbering.
 */
export interface ChainLink {
  readonly sequence: number;
  readonly what: "receipt" | "event";
  readonly envelope: () => Promise<Envelope>;
}

/** The end of the chain, which the next statement follows. */
export interface ChainEnd {
  readonly sequence: number;
  /** SHA-256 (hex) of the last signed payload; null before the first. */
  readonly sha256: string | null;
}

const EVENT = /^(\d{8})-event\.(?!.*\.answer\.json$)(.+)\.json$/;

/** A file name such as `00000012-event.cmd_….json`: the number and the subject. */
export function signedEventFileName(sequence: number, name: string): string {
  return `${String(sequence).padStart(8, "0")}-event.${name}.json`;
}

/** The subject of an event's file, signed or not. */
export function eventNameOf(file: string): string {
  return EVENT.exec(file)?.[2] ?? file.replace(/\.json$/, "");
}

/** All signed statements, newest first. */
export async function listChain(layout: Layout): Promise<ChainLink[]> {
  const links = new Map<number, ChainLink>();
  for (const file of await listAllReceipts(layout))
    links.set(file.sequence, {
      sequence: file.sequence,
      what: "receipt",
      envelope: () => readEnvelope(file),
    });
  for (const directory of [layout.eventsWaiting, layout.eventsRefused, layout.events])
    for (const name of await readdir(directory)) {
      const sequence = Number(EVENT.exec(name)?.[1] ?? 0);
      if (sequence > 0)
        links.set(sequence, {
          sequence,
          what: "event",
          envelope: () => readEventEnvelope(layout, join(directory, name)),
        });
    }
  return [...links.values()].toSorted((a, b) => b.sequence - a.sequence);
}

/**
 * Signs the next statement of the chain. `write` puts it into the spool in one atomic step: a crash
 * before it leaves nothing signed, and a crash after it leaves a statement that will be submitted.
 * Two processes never sign at the same time, so none is left out of the chain. @throws ProofError,
 * SyntaxError if the newest receipt is damaged
 */
export async function signNext<T>(layout: Layout, write: (end: ChainEnd) => Promise<T>): Promise<T> {
  using _ = await waitForLock(layout, "chain", "sign", { signal: new AbortController().signal });
  const links = await listChain(layout);
  // Without `await` the lock would be released before the statement is in the spool.
  return await write({ sequence: links[0]?.sequence ?? 0, sha256: await newestReadable(links) });
}

/**
 * A damaged event cannot be submitted and must not block the receipts of later backups, so the
 * chain continues from the statement before it. A damaged receipt needs a person.
 */
async function newestReadable(links: readonly ChainLink[]): Promise<string | null> {
  for (const { what, envelope } of links)
    try {
      return toHex(sha256((await envelope()).payload));
    } catch (error) {
      if (what === "receipt" || !(error instanceof SyntaxError || error instanceof ProofError)) throw error;
    }
  return null;
}

/**
 * A listed waiting file may have been submitted since. It gets its new name before the old one
 * goes, so look there next.
 */
async function readEventEnvelope(layout: Layout, path: string): Promise<Envelope> {
  const name = basename(path);
  const value =
    (await readJson(path)) ??
    (await readJson(join(layout.events, name))) ??
    (await readJson(join(layout.eventsRefused, name)));
  if (typeof value !== "object" || value === null || !("envelope" in value))
    throw new SyntaxError(`${path} is not the file of a signed event`);
  return envelopeFromJson(value.envelope);
}
