import type { PackHeader, ScheduledRun } from "@attestore/proof";
import { expect, test } from "vitest";
import { compareOverlaps, type NamedPack } from "./compare-overlaps.ts";

const [SOURCE, RECEIPT] = ["src_01jd3gqp7yc03q0r9z4q1g9x6d", "rcpt_01jd3gqp7yc03q0r9z4q1g9x6d"];
const at = (time: string): string => `2026-11-20T${time}.000Z`;

/** Both packs have the run of two o'clock, which had an hour. */
function pack(name: string, made: { size: number; exported: string; run: Partial<ScheduledRun> }): NamedPack {
  const leaf = { id: RECEIPT, kind: "restore_test", recorded_at: at("02:59:59"), body_sha256: "" };
  const run: ScheduledRun = {
    source_id: SOURCE,
    kind: "restore_test",
    scheduled_at: at("02:00:00"),
    deadline_at: at("03:00:00"),
    status: "missed",
    receipt_id: null,
    event_id: null,
    ...made.run,
  };
  return {
    pack: name,
    manifest: {
      period: { from: at("00:00:00"), to: at("02:30:00") },
      exported_at: made.exported,
      log: { tree_size: made.size },
    } as PackHeader,
    compared: {
      bodiesUntil: made.exported,
      leaves: run.receipt_id === null ? new Map() : new Map([[RECEIPT, { index: 9, leaf }]]),
      otherLeaves: [],
      runs: [run],
      policy: { v: 1, org: { id: "", name: "" }, sources: [] },
      agents: [],
      changes: [],
    } as unknown as NamedPack["compared"],
    generations: { rollbacks: [] },
  };
}

const passed = { status: "passed", receipt_id: RECEIPT } as const;
const later = pack("later.zip", { size: 10, exported: at("12:00:00"), run: passed });

test("a receipt that was on its way while a pack was made may decide a run in the next", () => {
  const earlier = pack("earlier.zip", { size: 9, exported: at("03:00:02"), run: {} });
  for (const packs of [
    [earlier, later],
    [later, earlier],
  ])
    expect(compareOverlaps(packs).result).toBe("held");
});

test("a receipt that a pack's log had, or that came long after the pack, changes no result", () => {
  const had = pack("had.zip", { size: 10, exported: at("03:00:02"), run: {} });
  const since = pack("since.zip", { size: 9, exported: at("03:30:00"), run: {} });
  const other = pack("other.zip", { size: 9, exported: at("03:00:02"), run: { status: "withdrawn" } });
  for (const one of [had, since, other])
    expect(compareOverlaps([one, later]).result, one.pack).toBe("failed");
});

test("a receipt of one pack is not another receipt of the next", () => {
  const id = RECEIPT.replace("x6d", "x6e");
  const run = { ...passed, receipt_id: id };
  const next = pack("next.zip", { size: 12, exported: at("13:00:00"), run });
  const leaf = next.compared?.leaves.get(RECEIPT) ?? expect.unreachable();
  const packs = (body: string): NamedPack[] => [
    later,
    {
      ...next,
      compared: {
        ...(next.compared ?? expect.unreachable()),
        leaves: new Map([[id, { index: 11, leaf: { ...leaf.leaf, id, body_sha256: body } }]]),
        runs: later.compared?.runs ?? [],
      },
      manifest: { ...next.manifest, period: { from: at("02:30:00"), to: at("12:30:00") } },
    },
  ];
  expect(compareOverlaps(packs("another")).result).toBe("held");
  expect(compareOverlaps(packs(""))).toMatchObject({ result: "failed", detail: `${id} is ${RECEIPT} again` });
});
