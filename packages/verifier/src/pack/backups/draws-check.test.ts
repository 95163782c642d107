import {
  fromBase64,
  openDraw,
  type Rollback,
  toBase64,
  toHex,
  type Draw,
  type EventBundle,
  type Statement,
} from "@attestore/proof";
import { expect, test } from "vitest";
import { candidates, drawOf } from "../../../../proof/test/draw-fixture.ts";
import {
  backupStatement,
  ids,
  LOG_NAME,
  restoreTestStatement,
} from "../../../../proof/test/receipt-fixture.ts";
import { ed25519Key, verifierOf } from "../../../../proof/test/signing-keys.ts";
import type { CheckedEntry } from "../entries/check-entries.ts";
import type { CheckedReceipt } from "../entries/check-receipt.ts";
import { DrawsCheck } from "./draws-check.ts";
import { Findings } from "../findings.ts";
import { isKeptTest, keptDraw, keptStatement } from "../entries/kept-statement.ts";

const log = await ed25519Key(3);
const logKey = verifierOf(log, LOG_NAME);
const eventId = (letter: string): string => `evt_01jd3gqq8zb14p1s0a5r2h0y8${letter}`;

interface Case {
  draws: Draw[];
  receipts?: (CheckedReceipt | Promise<CheckedReceipt>)[];
  others?: EventBundle[];
  roots?: Map<number, string>;
  rollbacks?: Rollback[];
  from?: string;
  range?: { from_index: number; to_index: number };
}

async function lineOf({
  draws,
  receipts = [],
  others = [],
  roots = new Map(),
  rollbacks = [],
  from = "2026-11-01T00:00:00.000Z",
  range = { from_index: 0, to_index: 0 },
}: Case) {
  const findings = new Findings();
  const bundles = [...draws.map(declared), ...others];
  const entries: CheckedEntry[] = [
    ...bundles.map(eventOf),
    ...(await Promise.all(receipts.map(async (one) => one))),
  ];
  const at = (file: number): CheckedEntry => entries[file] ?? expect.unreachable();
  const check = new DrawsCheck(
    { logKey, rollbacks, roots, from, range },
    {
      idOf: (file) => at(file).id,
      eventAt: (file) => Promise.resolve(bundles[file] ?? expect.unreachable()),
      drawAt: (file) => {
        const entry = at(file);
        return Promise.resolve(
          "statement" in entry && isKeptTest(entry.statement) ? entry.statement.draw : null,
        );
      },
    },
  );
  for (const [file, entry] of entries.entries()) check.add({ ...entry, file });
  await check.finish(findings);
  return findings.lines().find(({ id }) => id === "draws");
}

function eventOf(bundle: EventBundle): CheckedEntry {
  const { leaf, inclusion_proof } = bundle;
  const { id, recorded_at: recordedAt } = leaf;
  const logIndex = inclusion_proof.log_index;
  return { file: 0, id, logIndex, recordedAt, bundle, signature: null, isEarlier: false };
}

function declared(draw: Draw): EventBundle {
  const { predicate } = JSON.parse(new TextDecoder().decode(fromBase64(draw.statement))) as {
    predicate: EventBundle["event"];
  };
  const signatures = [{ keyid: "", sig: toBase64(new Uint8Array(64)) }];
  const envelope = { payload: draw.statement, payloadType: "application/vnd.in-toto+json", signatures };
  return {
    event: predicate,
    envelope,
    leaf: draw.leaf,
    inclusion_proof: { log_index: draw.log_index, tree_size: draw.log_index + 1, hashes: [] },
  } as unknown as EventBundle;
}

function removal(kind: string, backup_id: string, recorded_at: string, n = 0): EventBundle {
  const leaf = { id: `evt_${kind}_${backup_id}`, kind, recorded_at };
  return { event: { backup_id }, leaf, inclusion_proof: { log_index: n } } as unknown as EventBundle;
}

const receipt = (id: string, statement: Statement, more: object = {}): CheckedReceipt => ({
  file: 0,
  id,
  logIndex: 0,
  recordedAt: "2026-11-20T02:00:42.000Z",
  bodySha256: "",
  statement: keptStatement(statement),
  keyFingerprint: "",
  isEarlier: false,
  ...more,
});

async function tested(draw: Draw, id = "rcpt_test"): Promise<CheckedReceipt> {
  const statement = restoreTestStatement();
  statement.predicate.draw = draw;
  return receipt(id, statement, { statement: keptStatement(statement, await keptDraw(statement, logKey)) });
}

function backup(backup_id: string, recordedAt = "2026-11-19T02:00:00.000Z", more: object = {}) {
  const statement = backupStatement();
  statement.predicate.backup_id = backup_id;
  return receipt(`rcpt_${backup_id}`, statement, { recordedAt, ...more });
}

const draw = await drawOf({ log });
const outside = "bkp_01jd3gqp7yc03q0r9z4q1g9x7z";

test("each draw with its test holds, and one without is named", async () => {
  const open = await drawOf({ log, index: 9, eventId: eventId("g") });
  expect(await lineOf({ draws: [draw, open], receipts: [tested(draw)] })).toMatchObject({
    result: "held",
    detail: `2 draws, 1 test of a drawn backup; 1 without a result: ${eventId("g")} of ${ids.source}`,
  });
  expect(await lineOf({ draws: [] })).toBeUndefined();
});

test("a draw counts for one test", async () => {
  const line = await lineOf({ draws: [draw], receipts: [tested(draw), tested(draw, "rcpt_again")] });
  expect(line).toMatchObject({ result: "failed", detail: expect.stringContaining("already") });
});

test("the head that decided is one of the pack's log", async () => {
  const { rootHash } = await openDraw(draw, logKey);
  const roots = (root: string) => new Map([[4, root]]);
  const lines = [toHex(rootHash), "00".repeat(32)].map((root) =>
    lineOf({
      draws: [draw],
      receipts: [tested(draw)],
      roots: roots(root),
      range: { from_index: 0, to_index: 8 },
    }),
  );
  expect((await Promise.all(lines)).map((line) => line?.result)).toEqual(["held", "failed"]);
  // In the place of the declaration the pack's log has something else.
  const of = (from_index: number, to_index: number) =>
    lineOf({ draws: [draw], receipts: [tested(draw)], range: { from_index, to_index } });
  const results = await Promise.all([of(0, 5), of(4, 8), of(0, 4), of(5, 8)]);
  expect(results.map((line) => line?.result)).toEqual(["failed", "failed", "held", "held"]);
});

test("a draw whose place the log lost counts for the declaration that its agent submitted again", async () => {
  const again = await drawOf({ log, index: 9, eventId: eventId("g") });
  const rolledBack = (size: number): Rollback[] => [
    {
      generation: 2,
      origin: `${LOG_NAME}/2`,
      ended: LOG_NAME,
      size,
      rootHash: new Uint8Array(32),
      lost: [],
      by: "alice",
      because: "failover",
      eventId: eventId("h"),
      at: "2026-11-20T03:00:00.000Z",
    },
  ];
  const roots = new Map([[4, "00".repeat(32)]]);
  const range = { from_index: 0, to_index: 8 };
  const of = (more: Partial<Case>) =>
    lineOf({ draws: [again], receipts: [tested(draw)], roots, range, ...more });
  expect(await of({ rollbacks: rolledBack(4) })).toMatchObject({
    result: "held",
    detail: "1 draw, 1 test of a drawn backup",
  });
  // The place was not lost, and the head is another log's.
  expect((await of({ rollbacks: rolledBack(5) }))?.result).toBe("failed");
  // Neither is the same declaration used twice that way.
  const twice = [tested(draw), tested(again, "rcpt_again")];
  expect((await of({ receipts: twice, rollbacks: rolledBack(4) }))?.result).toBe("failed");
  // Not even if the log has the declaration twice: the first one counts.
  const [lost, third] = [
    await drawOf({ log, index: 20 }),
    await drawOf({ log, index: 12, eventId: eventId("k") }),
  ];
  const receipts = [tested(lost), tested(again, "rcpt_again")];
  const line = await of({ draws: [again, third], receipts, rollbacks: rolledBack(15) });
  expect(line?.result).toBe("failed");
});

test("no kept backup is left out", async () => {
  const cases: [string, CheckedReceipt[], EventBundle[], string][] = [
    ["all named", candidates.map((id) => backup(id)), [], "held"],
    ["one left out", [backup(outside)], [], "failed"],
    ["one that was just made", [backup(outside, "2026-11-20T01:55:00.000Z")], [], "held"],
    ["one from before the period", [backup(outside, undefined, { isEarlier: true })], [], "held"],
    [
      "one to be removed",
      [backup(outside)],
      [removal("backup_expiring", outside, "2026-11-19T12:00:00.000Z")],
      "held",
    ],
    [
      "one that was kept after all",
      [backup(outside)],
      [
        removal("backup_expiring", outside, "2026-11-19T12:00:00.000Z", 1),
        removal("backup_removal_withdrawn", outside, "2026-11-19T13:00:00.000Z", 2),
      ],
      "failed",
    ],
    [
      "one that was to be removed later",
      [backup(outside)],
      [removal("backup_expiring", outside, "2026-11-20T12:00:00.000Z")],
      "failed",
    ],
  ];
  for (const [what, receipts, others, result] of cases)
    expect(
      (await lineOf({ draws: [draw], receipts: [...receipts, tested(draw)], others }))?.result,
      what,
    ).toBe(result);
  const waited = await drawOf({ log, predicate: { occurred_at: "2026-11-19T02:05:00.000Z" } });
  const early = await drawOf({ log, predicate: { occurred_at: "2026-01-01T00:00:00.000Z" } });
  const since = [backup(outside, "2026-11-19T02:00:00.000Z"), backup(outside, "2026-11-19T01:00:00.000Z")];
  for (const [made, receipts, result] of [
    [waited, since.slice(0, 1), "held"],
    [waited, since.slice(1), "failed"],
    [early, since.slice(1), "failed"],
  ] as const)
    expect((await lineOf({ draws: [made], receipts: [...receipts] }))?.result).toBe(result);
  // The clock of an honest host may be slow: by it, the removal comes after the draw.
  const slow = await drawOf({ log, predicate: { occurred_at: "2026-11-20T00:30:00.000Z" } });
  const others = [removal("backup_expiring", outside, "2026-11-20T01:30:00.000Z")];
  expect((await lineOf({ draws: [slow], receipts: [backup(outside)], others }))?.result).toBe("held");
  const before = `${outside.slice(0, -5)}0`;
  const more = Array.from({ length: 900 }, (_, n) => `${before}${String(n).padStart(4, "0")}`);
  const many = await drawOf({ log, among: more, detail: { omitted: 1 } });
  expect((await lineOf({ draws: [many], receipts: [backup(outside)] }))?.result).toBe("held");
});

test("a draw without a result may be repeated only where its backup is shown to be gone", async () => {
  const { backupId } = await openDraw(draw, logKey);
  const shown = {
    event_id: draw.leaf.id,
    backup_id: backupId,
    hashes: draw.hashes,
    checkpoint: draw.checkpoint,
    secret: draw.secret,
  };
  const without = candidates.filter((id) => id !== backupId);
  const next = (detail: object, among: readonly string[] = without, predicate: object = {}) =>
    drawOf({
      log,
      index: 9,
      eventId: eventId("g"),
      among,
      detail: { ...detail },
      predicate: { ...predicate },
    });
  const cases: [string, Draw, string][] = [
    ["shown", await next({ replaces: shown }), "held"],
    ["not shown", await next({}), "not_checked"],
    ["still there", await next({ replaces: shown }, candidates), "not_checked"],
    ["another backup", await next({ replaces: { ...shown, backup_id: outside } }), "not_checked"],
    ["another secret", await next({ replaces: { ...shown, secret: "00".repeat(32) } }), "not_checked"],
    ["another draw", await next({ replaces: { ...shown, event_id: eventId("h") } }), "not_checked"],
    ["of another source", await next({}, candidates, { source_id: ids.source.replace("6d", "6e") }), "held"],
  ];
  const removed = [removal("backup_expired", backupId, "2026-11-20T01:58:00.000Z", 5)];
  for (const [what, again, result] of cases) {
    const line = await lineOf({ draws: [draw, again], receipts: [tested(again)], others: removed });
    expect(line?.result, what).toBe(result);
  }
});

test("a drawn backup is gone only if the log has its removal", async () => {
  const { backupId } = await openDraw(draw, logKey);
  const { hashes, checkpoint, secret } = draw;
  const again = await drawOf({
    log,
    index: 9,
    eventId: eventId("g"),
    among: candidates.filter((id) => id !== backupId),
    detail: { replaces: { event_id: draw.leaf.id, backup_id: backupId, hashes, checkpoint, secret } },
  });
  const of = async (others: EventBundle[], more: Partial<Case> = {}) =>
    (await lineOf({ draws: [draw, again], receipts: [tested(again)], others, ...more }))?.result;
  const at = "2026-11-20T01:58:00.000Z";
  // Whoever runs the host would rather not test it: it is only no candidate any more.
  expect(await of([])).toBe("not_checked");
  expect(await of([removal("backup_expiring", outside, at, 5)])).toBe("not_checked");
  expect(await of([removal("backup_expiring", backupId, "2026-11-20T03:00:00.000Z", 12)])).toBe(
    "not_checked",
  );
  expect(await of([removal("backup_expiring", backupId, at, 5)])).toBe("held");
  const early = "2026-11-20T01:20:00.000Z";
  const withdrawn = removal("backup_removal_withdrawn", backupId, "2026-11-20T01:30:00.000Z", 6);
  expect(await of([removal("backup_expiring", backupId, early, 5), withdrawn])).toBe("not_checked");
  // The removal may be from before the period, where the draw's candidates are.
  expect(await of([], { from: "2026-11-20T01:55:00.000Z" })).toBe("held");
});
