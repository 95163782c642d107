import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { expect, test } from "vitest";
import { LocalPlaces } from "../../platform/workers/places.ts";
import { PackConcurrency } from "./pack-concurrency.ts";

const pack = (): Promise<Readable> => Promise.resolve(Readable.from(["a", "b"]));
const taken = (turns: PackConcurrency, org: string): Promise<Readable | string> =>
  turns.take(org, pack).catch((error: unknown) => (error as { code: string }).code);

test("at most two packs per organisation and eight in all at once; the next one waits until one ends", async () => {
  const turns = new PackConcurrency(new LocalPlaces());
  const [read, dropped] = [await turns.take("org_1", pack), await turns.take("org_1", pack)];
  expect(await taken(turns, "org_1")).toBe("rate_limited");
  for (let n = 0; n < 6; n += 1)
    expect(await taken(turns, `org_${2 + Math.floor(n / 2)}`)).not.toBeTypeOf("string");
  expect(await taken(turns, "org_9")).toBe("unavailable");
  read.resume();
  await finished(read);
  expect(await taken(turns, "org_1")).not.toBeTypeOf("string");
  expect(await taken(turns, "org_9")).toBe("unavailable");
  dropped.destroy();
  await finished(dropped).catch(() => undefined);
  expect(await taken(turns, "org_9")).not.toBeTypeOf("string");
});

test("a pack that could not start gives its turn back", async () => {
  const turns = new PackConcurrency(new LocalPlaces());
  for (let n = 0; n < 9; n += 1)
    await expect(turns.take("org_1", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await taken(turns, "org_1")).not.toBeTypeOf("string");
});
