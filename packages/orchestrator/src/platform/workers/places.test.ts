import { expect, test } from "vitest";
import { type HeldPlaces, LocalPlaces, type WantedPlace } from "./places.ts";
import { LocalTurns } from "./turns.ts";

const full = { full: "b" };

async function taken(places: LocalPlaces, ...wanted: WantedPlace[]): Promise<HeldPlaces> {
  const held = await places.take(wanted);
  if ("full" in held) throw new Error(`${held.full} is full`);
  return held;
}

test("places are taken all or none, given back in parts, and never twice", async () => {
  const places = new LocalPlaces();
  const both = await taken(places, { name: "a", amount: 1, limit: 9 }, { name: "b", amount: 2, limit: 2 });
  const more = [
    { name: "a", amount: 1, limit: 9 },
    { name: "b", amount: 1, limit: 2 },
  ];
  expect(await places.take(more)).toEqual(full);
  expect(await places.held("a")).toBe(1);
  both.give(1);
  const last = await taken(places, ...more);
  both.release();
  both.release();
  expect([await places.held("a"), await places.held("b")]).toEqual([1, 1]);
  last.release();
  expect([await places.held("a"), await places.held("b")]).toEqual([0, 0]);
});

test("places that were held during a measurement still count against its limit", async () => {
  const places = new LocalPlaces();
  expect(await places.take([{ name: "b", amount: 1, limit: 2, atLeast: 2 }])).toEqual(full);
  await taken(places, { name: "b", amount: 1, limit: 2, atLeast: 1 });
});

test("turns of one name come one after the other, and each that has to wait tells the one before", async () => {
  const turns = new LocalTurns();
  const seen: string[] = [];
  const take = async (name: string): Promise<() => void> => {
    const end = await turns.take("work", () => seen.push(`${name} is overtaken`));
    seen.push(name);
    return end;
  };
  const first = await take("first");
  const [second, third] = [take("second"), take("third")];
  (await turns.take("other work"))();
  first();
  first();
  (await second)();
  (await third)();
  expect(seen).toEqual(["first", "first is overtaken", "second is overtaken", "second", "third"]);
});
