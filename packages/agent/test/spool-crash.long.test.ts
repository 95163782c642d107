import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  parseBundle,
  sha256,
  toHex,
  verifyReceipt,
  parseStatement,
  envelopeFromJson,
} from "@attestore/proof";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { bundle } from "../../../tools/package/bundle.ts";
import { listChain } from "../src/receipts/chain.ts";
import { listReceipts, listAllReceipts, readEnvelope } from "../src/receipts/receipt-files.ts";
import { listEvents } from "../src/receipts/spooled-event.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

/** In one file: from its sources each of some thirty starts takes three times as long. */
let child: string;
let service: TestService;
let root: TestRoot;
/** Ciphertexts that a child said are on disk: none of them may get lost. */
let recorded: Set<string>;

beforeAll(async () => {
  const { code } = await bundle(join(import.meta.dirname, "service/deliver-backups.ts"), null);
  child = join(mkdtempSync(join(tmpdir(), "attestore-deliver-")), "deliver-backups.cjs");
  writeFileSync(child, code);
});
afterAll(() => rmSync(dirname(child), { recursive: true, force: true }));
beforeEach(async () => {
  service = await TestService.start();
  root = await attachedRoot(service, "  orders: { engine: files, path: /none }\n");
  recorded = new Set();
});
afterEach(async () => {
  root.remove();
  await service.stop();
});

interface Child {
  readonly process: ChildProcess;
  readonly ready: Promise<unknown>;
  /** The exit code, or the signal's name. */
  readonly ended: Promise<number | string | null>;
}

function deliver(count: number): Child {
  const started = spawn(process.execPath, [child, root.layout.root, String(count)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let complaint = "";
  started.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  const ready = new Promise((resolve) => {
    started.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("ready")) resolve(undefined);
      for (const [, digest = ""] of said.matchAll(/recorded ([0-9a-f]{64})\n/g)) recorded.add(digest);
    });
    started.on("close", resolve);
  });
  const ended = once(started, "close").then(([code, signal]: unknown[]) => {
    if (code === 1) throw new Error(`the child failed:\n${complaint}`);
    return (code ?? signal) as number | string | null;
  });
  return { process: started, ready, ended };
}

/** Everything that was promised holds, once a run has come to its end. */
async function expectNothingLost(): Promise<void> {
  expect(await deliver(0).ended).toBe(0);
  const { layout, attachment } = root;
  expect(readdirSync(layout.blobs)).toEqual([]);
  expect(await listReceipts(layout, "waiting")).toEqual([]);
  expect(await listReceipts(layout, "refused")).toEqual([]);
  const accepted = await listReceipts(layout, "accepted");

  // One receipt or event a sequence number, in one chain.
  expect(await listEvents(layout.eventsWaiting)).toEqual([]);
  const chain = (await listChain(layout)).toReversed();
  expect(chain.map(({ sequence }) => sequence)).toEqual(chain.map((_, index) => index + 1));
  const before = new Map<number, string | null>();
  let last: string | null = null;
  for (const { sequence, envelope } of chain) {
    const { payload } = await envelope();
    before.set(sequence, last);
    const { predicate } = JSON.parse(Buffer.from(payload).toString()) as {
      predicate: { previous_receipt_sha256: string | null };
    };
    expect(predicate.previous_receipt_sha256).toBe(last);
    last = toHex(sha256(payload));
  }
  // An event for each ciphertext that came so far, and the service took each envelope.
  const signed = service.events.map(({ envelope }) => envelope?.payload);
  expect(signed).not.toContain(undefined);
  expect(new Set(signed).size).toBe((await listEvents(layout.events)).length);
  expect(accepted.length + new Set(signed).size).toBe(chain.length);
  // Each receipt proven.
  const receiptIds = new Set<string>();
  const payloads: string[] = [];
  const digests: string[] = [];
  const backupIds: string[] = [];
  for (const file of accepted) {
    const bundle = parseBundle(readFileSync(file.path));
    const verdict = await verifyReceipt({
      bundle,
      publicKey: attachment.key.publicKey,
      logKey: attachment.logKey,
    });
    expect(verdict.verdict).toBe("true");
    expect(verdict.statement?.predicate.previous_receipt_sha256).toBe(before.get(file.sequence));
    const { payload } = await readEnvelope(file);
    payloads.push(toHex(sha256(payload)));
    receiptIds.add(bundle.leaf.id);
    digests.push(verdict.statement?.subject[0].digest.sha256 ?? "");
    backupIds.push(verdict.statement?.predicate.backup_id ?? "");
  }
  expect(receiptIds.size).toBe(accepted.length);
  expect(new Set(backupIds).size).toBe(accepted.length);
  // The service took each of them once, and nothing else.
  const taken = service.receipts.map(({ envelope }) => toHex(sha256(envelopeFromJson(envelope).payload)));
  expect(taken.toSorted()).toEqual(payloads.toSorted());
  for (const { envelope } of service.receipts)
    expect(parseStatement(envelopeFromJson(envelope).payload).ok).toBe(true);
  // Every recorded ciphertext is stored, registered and receipted.
  expect(new Set(digests)).toEqual(new Set([...digests, ...recorded]));
  for (const id of backupIds) expect(service.backups.has(id)).toBe(true);
  expect((await listAllReceipts(layout)).length).toBe(accepted.length);
}

const ROUTES = [
  "POST /v1/heartbeat",
  "GET /v1/log/proof",
  "POST /v1/backups/upload-url",
  "PUT /objects/",
  "POST /v1/backups",
  "POST /v1/events",
  "POST /v1/receipts",
];

for (const route of ROUTES) {
  for (const moment of ["cut", "cut-after"] as const) {
    it(`survives kill -9 at ${route}, ${moment === "cut" ? "before" : "after"} its effect`, async () => {
      const running: Child[] = [];
      let seen = 0;
      service.interfere = (request) => {
        const isIt = request.route === route || (route.endsWith("/") && request.route.startsWith(route));
        // The second of its kind, so that there is a chain already; there is one heartbeat only.
        if (!isIt || ++seen !== (route.endsWith("heartbeat") ? 1 : 2)) return undefined;
        running[0]?.process.kill("SIGKILL");
        return moment;
      };
      const child = deliver(3);
      running.push(child);
      expect(await child.ended).toBe("SIGKILL");
      service.interfere = () => undefined;
      await expectNothingLost();
      expect(recorded.size).toBeGreaterThan(0);
    });
  }
}

type Place = [name: string, what: RegExp, nth: number, directory: (root: TestRoot) => string];
const FILES: Place[] = [
  ["blobs/", /^[0-9a-f]{64}\.json$/, 1, ({ layout }) => layout.blobs],
  ["blobs/", /^\..*\.tmp$/, 5, ({ layout }) => layout.blobs],
  ["receipts/waiting/", /^\d{8}-backup\.json$/, 3, ({ layout }) => layout.receiptsWaiting],
  ["receipts/waiting/", /^\..*\.tmp$/, 2, ({ layout }) => layout.receiptsWaiting],
  ["receipts/", /^\d{8}-backup\.json$/, 1, ({ layout }) => layout.receipts],
  ["receipts/", /^\..*\.tmp$/, 4, ({ layout }) => layout.receipts],
  ["events/waiting/", /^\d{8}-event\..*\.json$/, 3, ({ layout }) => layout.eventsWaiting],
  ["events/waiting/", /^\..*\.tmp$/, 2, ({ layout }) => layout.eventsWaiting],
  ["events/", /^\d{8}-event\..*\.json$/, 2, ({ layout }) => layout.events],
  ["log/", /^head\.json$/, 3, ({ layout }) => layout.log],
];

it.each(FILES)(
  "the spool survives kill -9 when in %s %s is touched the %i. time",
  async (_name, what, nth, directory) => {
    const child = deliver(5);
    await child.ready;
    let touched = 0;
    const watcher = watch(directory(root), (_event, name) => {
      if (name !== null && what.test(name) && ++touched === nth) child.process.kill("SIGKILL");
    });
    await child.ended;
    watcher.close();
    expect(touched).toBeGreaterThanOrEqual(nth);
    await expectNothingLost();
  },
);

it("the spool survives kills at random moments, one after the other", async () => {
  let killed = 0;
  // A moment is counted in requests: by the clock, most kills on a busy machine come before
  // anything is delivered.
  while (killed < 12 || recorded.size <= 12) {
    const child = deliver(20);
    const until = service.calls.length + 2 + Math.floor(Math.random() * 12);
    service.interfere = async () => {
      if (service.calls.length === until) {
        await pause(Math.random() * 20);
        child.process.kill("SIGKILL");
      }
      return undefined;
    };
    if ((await child.ended) === "SIGKILL") killed++;
  }
  service.interfere = () => undefined;
  await expectNothingLost();
});

it("two processes work in one root at once, and nothing is lost or repeated", async () => {
  const ends = await Promise.all([deliver(5), deliver(5), deliver(5)].map(({ ended }) => ended));
  expect(ends).toEqual([0, 0, 0]);
  await expectNothingLost();
  expect(recorded.size).toBe(15);
  expect(readdirSync(join(root.layout.receipts)).filter((name) => name.endsWith(".json"))).toHaveLength(15);
});
