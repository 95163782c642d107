import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { throttled } from "./throttle.ts";

const signal = new AbortController().signal;

async function* chunks(...sizes: number[]): AsyncGenerator<Buffer> {
  for (const size of sizes) {
    await Promise.resolve();
    yield Buffer.alloc(size, size % 251);
  }
}

interface Passed {
  readonly at_ms: number;
  readonly bytes: number;
}

async function passed(source: AsyncIterable<Buffer>, rate: number | null): Promise<Passed[]> {
  const started = performance.now();
  const seen: Passed[] = [];
  let bytes = 0;
  for await (const piece of throttled(source, rate, signal)) {
    bytes += piece.length;
    seen.push({ at_ms: performance.now() - started, bytes });
  }
  return seen;
}

it("the throttle lets no more through at any moment than the rate, whatever the size of the chunks", async () => {
  const rate = 400_000;
  const seen = await passed(chunks(1, 64_000, 5, 200_000, 90_000, 45_994), rate);
  expect(seen.at(-1)?.bytes).toBe(400_000);
  // A piece may be on its way before its own time is up: a quarter of a second's worth.
  for (const { at_ms, bytes } of seen)
    expect(bytes).toBeLessThanOrEqual((at_ms / 1000) * rate + rate / 4 + 1);
  expect(seen.at(-1)?.at_ms).toBeGreaterThanOrEqual(740);
});

it("a throttled upload catches up on at most one second of silence", async () => {
  const rate = 100_000;
  const seen = await passed(
    (async function* () {
      yield Buffer.alloc(1000);
      await pause(2500);
      yield Buffer.alloc(200_000);
    })(),
    rate,
  );
  const burst = seen.filter(({ at_ms }) => at_ms < 2600).at(-1)?.bytes ?? 0;
  expect(burst).toBeLessThanOrEqual(1000 + 1.5 * rate);
  expect(seen.at(-1)?.at_ms).toBeGreaterThan(3000);
});

it("the throttle passes data on immediately without a rate, and stops when it is aborted", async () => {
  expect((await passed(chunks(10, 20), null)).map(({ bytes }) => bytes)).toEqual([10, 30]);
  const stop = new AbortController();
  const slow = throttled(chunks(100_000, 100_000), 1000, stop.signal);
  await slow.next();
  const next = slow.next();
  stop.abort();
  await expect(next).rejects.toMatchObject({ name: "AbortError" });
});
