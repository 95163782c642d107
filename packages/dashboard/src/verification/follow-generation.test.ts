import { formatVerifierKey, leafHash, parseCheckpoint, parseNote, toHex, utf8 } from "@attestore/proof";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GenerationsLog, otherRoot } from "../../../proof/test/generations-fixture.ts";
import { LOG_NAME } from "../../../proof/test/receipt-fixture.ts";
import { ed25519Key, type TestKey, verifierOf } from "../../../proof/test/signing-keys.ts";
import {
  type HeldHead,
  keepAndEndAlarm,
  keepHead,
  recordSplitView,
  type SplitView,
} from "../verifier/held-head.ts";
import { readHeldHead, readSplitView } from "../verifier/held-head.ts";
import { type Observation, observeHead, type SplitViewError } from "./observe-head.ts";

const NOW = new Date("2026-11-25T08:00:00.000Z");
let key: TestKey;
let log: GenerationsLog;
beforeAll(async () => {
  key = await ed25519Key(3);
});
beforeEach(() => {
  log = new GenerationsLog(key, 9);
});

type Lost = Awaited<ReturnType<GenerationsLog["lose"]>>;

const head = async (of = log, size?: number) => ({
  checkpoint: await of.checkpoint(size),
  verifier_key: formatVerifierKey(verifierOf(key, LOG_NAME)),
});
/** What a service answers that serves this log. */
const source = (of = log, lost: Lost[] = []) => ({
  prove: (from: bigint, to: bigint) =>
    Promise.resolve(to > of.size ? null : of.consistency(Number(from), Number(to)).map(toHex)),
  generations: () => Promise.resolve({ began: [...of.events], lost }),
});
const look = async (
  held: HeldHead | null,
  { of = log, alarm = null as SplitView | null, lost = [] as Lost[] } = {},
) => observeHead(await head(of), { held, alarm }, source(of, lost), NOW);
const first = async (): Promise<HeldHead> => (await look(null)).keep;
const newestHead = () => ({ size: log.size, rootHash: log.root() });
const grow = (entries: number, of = log): void => {
  for (let n = 0; n < entries; n += 1) of.append(leafHash(utf8(`later ${of.size}`)));
};
/** Another log under the same key, with the first entries of this one. */
const twin = (left: number): GenerationsLog => new GenerationsLog(key, left);

function alarmOf(kept: HeldHead, offered: SplitView["offered"]): SplitView {
  return { raised_at: NOW.toISOString(), reason: "head_rolled_back", detail: "gone", kept, offered };
}

async function refused(seen: Promise<Observation>): Promise<SplitViewError> {
  return seen.then(
    () => Promise.reject(new Error("it was followed")),
    (error: SplitViewError) => error,
  );
}

describe("a log that continues as its next generation", () => {
  test("is followed if the head that this browser has is named as lost, and watched further", async () => {
    const held = await first();
    await log.rollBack(6, [newestHead()]);
    const { outcome, keep, rollbacks } = await look(held);
    expect(outcome).toBe("followed");
    expect(rollbacks).toMatchObject([{ generation: 2, size: 6, because: "failover" }]);
    expect(keep).toMatchObject({ since: held.since, generations: { followed_at: NOW.toISOString() } });
    expect((await look(keep)).outcome).toBe("same");
    grow(3);
    const later = await look(keep);
    expect(later).toMatchObject({ outcome: "grown", rollbacks });
    expect(later.keep.generations).toEqual(keep.generations);
    // Stored text, as it is read again.
    expect((await look(JSON.parse(JSON.stringify(later.keep)) as HeldHead)).outcome).toBe("same");
  });

  test("is followed if the head is within the remaining entries, and by a browser that never saw the log", async () => {
    const held = await first();
    grow(4);
    await log.rollBack(10, [newestHead()]);
    expect((await look(held)).outcome).toBe("followed");
    const { outcome, keep, rollbacks } = await look(null);
    expect([outcome, keep.generations?.began.length, rollbacks.length]).toEqual(["first", 1, 1]);
  });

  test("is followed over several losses, one after the other or all at once", async () => {
    const held = await first();
    await log.rollBack(6, [newestHead()]);
    const { keep } = await look(held);
    grow(3);
    await log.rollBack(8, [newestHead()]);
    for (const before of [held, keep])
      expect(await look(before)).toMatchObject({ outcome: "followed", rollbacks: [{}, { generation: 3 }] });
  });

  test("ends the alarm that the loss raised, and only then", async () => {
    const held = await first();
    const lostHead = newestHead();
    const alarm = alarmOf(held, await head(twin(6)));
    // Still set back: the same alarm again.
    expect(await refused(look(held, { of: twin(6), alarm }))).toMatchObject({ reason: "head_rolled_back" });
    await log.rollBack(6, [lostHead]);
    const { outcome, keep } = await look(held, { alarm });
    expect([outcome, keep.generations?.alarm]).toEqual(["followed", alarm]);
    const place = storage();
    keepHead(place, "org_1", held);
    recordSplitView(place, "org_1", alarm);
    keepAndEndAlarm(place, "org_1", keep);
    expect([readHeldHead(place, "org_1"), readSplitView(place, "org_1")]).toEqual([keep, null]);
    // Closed between the two writes, the browser follows again.
    expect((await look(keep, { alarm })).outcome).toBe("followed");
  });

  test("is followed once a head that only this browser had is named by an event of its own", async () => {
    const held = await first();
    const mine = newestHead();
    grow(2);
    const newest = newestHead();
    await log.rollBack(6, [newest]);
    const why = await refused(look(held));
    expect(why).toMatchObject({ reason: "generation_unproven" });
    expect(why.message).toContain("does not name the head of 9 leaves");
    const alarm = { ...alarmOf(held, await head()), reason: "generation_unproven" as const };
    const lost = [await log.lose(LOG_NAME, mine)];
    expect((await look(held, { alarm, lost })).outcome).toBe("followed");
  });
});

/** An operator with the log's key may sign whatever it likes. */
const attacks: [name: string, tell: () => Promise<GenerationsLog>, why: RegExp][] = [
  ["no loss", () => rolledBack(6, []), /does not name the head/],
  [
    "another head than the one held",
    () => rolledBack(6, [{ size: 8, rootHash: log.root(8) }]),
    /does not name/,
  ],
  [
    "another root for the head held",
    () => rolledBack(6, [{ size: 9, rootHash: otherRoot(log.root()) }]),
    /does not name/,
  ],
  ["the head held as lost, and as left", () => rolledBack(9, [newestHead()]), /lost heads/],
  [
    "another number of entries than are left",
    async () => {
      const other = twin(9);
      await other.rollBack(6, [newestHead()], { tree_size: 5 });
      return other;
    },
    /not the entry after/,
  ],
  [
    "an event that its log does not have",
    async () => {
      const other = await rolledBack(6, [newestHead()]);
      const [event] = other.events;
      if (event !== undefined) event.leaf.recorded_at = "2026-11-25T07:00:00.000Z";
      return other;
    },
    /./,
  ],
  [
    "no event at all",
    async () => {
      const other = await rolledBack(6, [newestHead()]);
      other.events.length = 0;
      return other;
    },
    /0 events/,
  ],
  [
    "only the second of two losses",
    async () => {
      const other = await rolledBack(6, [newestHead()]);
      await other.rollBack(7, []);
      other.events.shift();
      return other;
    },
    /generation 3 follows on 1/,
  ],
];

async function rolledBack(
  left: number,
  lost: { size: number; rootHash: Uint8Array }[],
): Promise<GenerationsLog> {
  const other = twin(9);
  await other.rollBack(left, lost);
  return other;
}

describe("a later generation that is not proven", () => {
  test.each(attacks)("raises the alarm if it names %s", async (_name, tell, why) => {
    const held = await first();
    const other = await tell();
    const error = await refused(look(held, { of: other }));
    expect(error).toMatchObject({ name: "SplitViewError", reason: "generation_unproven" });
    expect(error.message).toMatch(why);
    // Nor does it end an alarm.
    const alarm = alarmOf(held, await head(twin(6)));
    expect(await refused(look(held, { of: other, alarm }))).toMatchObject({ reason: "generation_unproven" });
  });

  test("raises the alarm if the remaining entries do not begin with those that this browser saw", async () => {
    const { keep: held } = await look(null, { of: twin(5) });
    const fork = twin(3);
    for (let n = 0; n < 6; n += 1) fork.append(leafHash(utf8(`forged ${n}`)));
    await fork.rollBack(8, [{ size: 9, rootHash: fork.root() }]);
    const error = await refused(look(held, { of: fork }));
    expect(error).toMatchObject({ reason: "generation_unproven" });
    expect(error.message).toContain("the proof from 5 to 9 leaves does not hold");
  });

  test("leaves the alarm over a fork standing, though it names the head held", async () => {
    const held = await first();
    const fork = twin(4);
    for (let n = 0; n < 5; n += 1) fork.append(leafHash(utf8(`forged ${n}`)));
    const alarm = alarmOf(held, await head(fork));
    await log.rollBack(6, [newestHead()]);
    const error = await refused(look(held, { alarm }));
    expect(error.message).toContain("does not name the head of 9 leaves");
  });

  test("leaves the alarm over another key, or an unsigned head, standing", async () => {
    const held = await first();
    const unsigned = { ...(await head()), checkpoint: held.checkpoint.replace("\n9\n", "\n8\n") };
    await log.rollBack(6, [newestHead()]);
    const otherKey = { ...held, verifier_key: formatVerifierKey(verifierOf(await ed25519Key(4), LOG_NAME)) };
    for (const offered of [unsigned, otherKey])
      expect(await refused(look(held, { alarm: alarmOf(held, offered) }))).toMatchObject({
        reason: "generation_unproven",
      });
  });

  test("raises the alarm if a generation that this browser followed began otherwise", async () => {
    const held = await first();
    const lost = newestHead();
    await log.rollBack(6, [lost]);
    const { keep } = await look(held);
    const other = twin(9);
    await other.rollBack(5, [lost]);
    await other.rollBack(6, [{ size: 7, rootHash: log.root() }]);
    const error = await refused(look(keep, { of: other }));
    expect(error.message).toContain("began with another event");
  });

  test("raises the alarm if the ended generation signs more, though it extends the tree", async () => {
    const held = await first();
    await log.rollBack(6, [newestHead()]);
    const { keep } = await look(held);
    grow(4);
    const offered = { ...(await head()), checkpoint: await log.checkpoint(log.size, LOG_NAME) };
    const seen = observeHead(offered, { held: keep, alarm: null }, source(), NOW);
    expect(await refused(seen)).toMatchObject({ reason: "head_forked" });
    // What was left is served as it was, and no news.
    const left = { ...offered, checkpoint: await log.checkpoint(6, LOG_NAME) };
    const { outcome, keep: after } = await observeHead(left, { held: keep, alarm: null }, source(), NOW);
    expect([outcome, parseCheckpoint(parseNote(after.checkpoint).text).origin]).toEqual([
      "overtaken",
      `${LOG_NAME}/2`,
    ]);
  });

  test("raises none if the service does not answer, and shows that stored generations were changed", async () => {
    const held = await first();
    await log.rollBack(6, [newestHead()]);
    const away = { ...source(), generations: () => Promise.reject(new TypeError("fetch failed")) };
    await expect(observeHead(await head(), { held, alarm: null }, away, NOW)).rejects.toBeInstanceOf(
      TypeError,
    );
    const { keep } = await look(held);
    for (const began of [[], [{}], [...log.events, ...log.events]])
      await expect(
        look({ ...keep, generations: { followed_at: "t", began: began as typeof log.events } }),
      ).rejects.toMatchObject({ name: "ProofError" });
  });
});

function storage() {
  const kept = new Map<string, string>();
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  };
}
