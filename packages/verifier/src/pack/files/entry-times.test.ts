import type { Leaf, LogRange, Manifest } from "@attestore/proof";
import { expect, test } from "vitest";
import { type ClockEvent, EntryTimes } from "./entry-times.ts";

const HOUR_MS = 3_600_000;
const START = Date.parse("2026-11-20T00:00:00.000Z");
const times = (events: readonly ClockEvent[]): EntryTimes =>
  new EntryTimes(
    { start: null, end: null, bodies_until: "" } as unknown as LogRange,
    {
      period: { from: new Date(START).toISOString() },
      exported_at: new Date(START + 24 * HOUR_MS).toISOString(),
    } as unknown as Manifest,
    events,
  );

/** Entries by the hours after the start at which they were recorded. */
function judged(entries: readonly [hours: number, leaf?: Partial<Leaf>][], events: readonly ClockEvent[]) {
  const all = times(events);
  for (const [index, [hours, more]] of entries.entries()) {
    const recorded_at = new Date(START + hours * HOUR_MS).toISOString();
    all.look({ index, leaf: { kind: "agent_silent", actor_id: "service", recorded_at, ...more } as Leaf });
  }
  const { odd, explained, by } = all;
  return { odd, explained, by };
}

const says = (first_index: number, last_index: number, hours: number): ClockEvent => ({
  id: `evt_${last_index + 1}`,
  first_index,
  last_index,
  at: START + hours * HOUR_MS,
});

test("entries that the service's clock dated too late are explained by the event after them", () => {
  expect(judged([[0], [9000], [9001], [1], [2]], [])).toMatchObject({ odd: 4, explained: 0 });
  expect(judged([[0], [9000], [9001], [1], [2]], [says(1, 2, 1)])).toEqual({
    odd: 0,
    explained: 2,
    by: ["evt_3"],
  });
});

test("the service's clock does not explain an act of an agent or a person", () => {
  for (const leaf of [
    { signature: "AA==" },
    { actor_id: "agent_01jd3gqq8zb14p1s0a5r2h0y8g" },
    { actor_id: "user_1" },
  ])
    expect(judged([[0], [9000, leaf], [1]], [says(1, 1, 1)])).toMatchObject({ odd: 2, explained: 0 });
});

test("an event explains only the entries that it names, and only those dated later than itself", () => {
  expect(judged([[0], [9000], [9001], [1]], [says(2, 2, 1)])).toMatchObject({ odd: 2, explained: 1 });
  expect(judged([[0], [20], [2], [3]], [says(1, 2, 3)])).toMatchObject({ odd: 0, explained: 1 });
  expect(judged([[-9000], [0]], [says(0, 0, 0)])).toMatchObject({ odd: 1, explained: 0 });
});

test("two times of a wrong clock have an event each", () => {
  const entries: [number][] = [[0], [9000], [1], [8000], [8001], [2], [3]];
  expect(judged(entries, [says(1, 1, 1), says(3, 4, 2)])).toEqual({
    odd: 0,
    explained: 3,
    by: ["evt_2", "evt_5"],
  });
});
