/** How long each call that reads takes, one at a time on an open connection. */
import { setTimeout as delay } from "node:timers/promises";
import type { NoteVerifier } from "@attestore/proof";
import { exchange } from "../../../tests/e2e/harness/https.ts";
import type { Server } from "../../../tests/e2e/harness/server.ts";
import { callsOf, type MeasuredCall } from "./scale-calls.ts";
import type { History } from "./scale-history.ts";
import { requireBundle, requireConsistent, requireIncluded } from "./scale-proofs.ts";
import { median } from "./table.ts";

const WARM_UP = 30;
/** Of the calls that prove something, every n-th answer is verified. */
const VERIFIED_EVERY = 10;

export interface Took {
  name: string;
  p50_ms: number;
  p99_ms: number;
  /** Answered entries, of a list. */
  items: number | null;
}

/** Who reads what. */
export interface Reading {
  server: Server;
  history: History;
  /** The token of an operator's session. */
  operator: string;
  /** How often each call is measured. */
  times: number;
}

export async function measureReading(reading: Reading): Promise<Took[]> {
  const { server, history, operator } = reading;
  const path = `/api/receipts/${history.samples[0]?.receiptId ?? ""}/bundle`;
  const log = await requireBundle((await ask(server, path, history.token)).body);
  const took: Took[] = [];
  for (const call of callsOf(history, operator)) {
    const one = await measure(call, reading, log);
    process.stderr.write(`${one.name}: p50 ${one.p50_ms.toFixed(1)} ms, p99 ${one.p99_ms.toFixed(1)} ms\n`);
    took.push(one);
  }
  return took;
}

async function measure(
  call: MeasuredCall,
  { server, history, times: wanted }: Reading,
  log: NoteVerifier,
): Promise<Took> {
  const times: number[] = [];
  let items: number | null = null;
  for (let n = 0; n < WARM_UP + wanted; n++) {
    const path = call.path(n);
    const { body, took_ms } = await ask(server, path, call.token);
    if (n >= WARM_UP) times.push(took_ms);
    if (n % VERIFIED_EVERY === 0) await verify(call, body, { server, history }, log);
    items = body.startsWith('{"items":') ? (JSON.parse(body) as { items: unknown[] }).items.length : null;
  }
  times.sort((a, b) => a - b);
  return {
    name: call.name,
    p50_ms: median(times),
    p99_ms: times[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN,
    items,
  };
}

/** An organisation may make so many calls a minute: then this waits, and asks once more. */
async function ask(server: Server, path: string, token: string): Promise<{ body: string; took_ms: number }> {
  const started = performance.now();
  const answer = await exchange(server, { method: "GET", path, token });
  const took_ms = performance.now() - started;
  if (answer.status === 429) {
    await delay(Number(answer.headers["retry-after"]) * 1000);
    return ask(server, path, token);
  }
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body.toString()}`);
  return { body: answer.body.toString(), took_ms };
}

async function verify(
  { proves }: MeasuredCall,
  body: string,
  { server, history: { samples, agent } }: Pick<Reading, "server" | "history">,
  log: NoteVerifier,
): Promise<void> {
  if (proves === undefined) return;
  if (proves === "bundle") {
    await requireBundle(body);
    return;
  }
  const { inclusion } = JSON.parse(body) as { inclusion: { log_index: number } };
  const leaf = samples.find(({ logIndex }) => logIndex === inclusion.log_index);
  const { consistency } = await requireIncluded(body, log, leaf?.leafHash ?? "");
  if (proves === "proof" || consistency === null) return;
  const { body: earlier } = await ask(
    server,
    `/v1/log/proof?leaf=0&tree_size=${consistency.from}`,
    agent.token,
  );
  await requireConsistent(body, log, (JSON.parse(earlier) as { checkpoint: string }).checkpoint);
}
