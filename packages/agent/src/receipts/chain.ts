import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { envelopeFromJson, ProofError, sha256, toHex, type Envelope } from "@attestore/proof";
import { waitForLock } from "../state/lock.ts";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";
import { listAllReceipts, readEnvelope } from "./receipt-files.ts";

/** One statement of this agent's: receipts and signed events share one chain and one numbering. */
export interface ChainLink {
  readonly sequence: number;
  readonly what: "receipt" | "event";
  readonly envelope: () => Promise<Envelope>;
}

/** What the next one follows on. */
export interface ChainEnd {
  readonly sequence: number;
  /** SHA-256 (hex) of the payload that was signed last; null before the first. */
  readonly sha256: string | null;
}

const EVENT = /^(\d{8})-event\.(?!.*\.answer\.json$)(.+)\.json$/;

/** Such as `00000012-event.cmd_….json`: its number, and what it tells of. */
export function signedEventFileName(sequence: number, name: string): string {
  return `${String(sequence).padStart(8, "0")}-event.${name}.json`;
}

/** What an event's file tells of, signed or not. */
export function eventNameOf(file: string): string {
  return EVENT.exec(file)?.[2] ?? file.replace(/\.json$/, "");
}

/** Everything that was signed, the newest first. */
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
 * Signs the next of the chain. `write` puts it into the spool in one atomic step: before it nothing was signed, after it there is one
 * that will be submitted. Two processes do not sign at the same time, so that none is left out of the chain.
 * @throws ProofError, SyntaxError where the newest receipt is damaged
 */
export async function signNext<T>(layout: Layout, write: (end: ChainEnd) => Promise<T>): Promise<T> {
  using _ = await waitForLock(layout, "chain", "sign", { signal: new AbortController().signal });
  const links = await listChain(layout);
  return write({ sequence: links[0]?.sequence ?? 0, sha256: await newestReadable(links) });
}

/**
 * An event whose file is damaged can't be submitted, and must not keep backups from their receipts:
 * the chain goes on from the one before it. A damaged receipt is for a person to look at.
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
 * One that waited when it was listed may be submitted by now: it is under its new name before the
 * old one goes.
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
