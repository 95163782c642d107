import { once } from "node:events";
import { spawn } from "node:child_process";
import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { coalesce, releasing } from "./coalesce.ts";

const MIB = 1 << 20;

async function bytesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return Buffer.concat(copies);
}

/** Bytes of which each place has its own. */
const patterned = (size: number, from: number): Buffer =>
  Buffer.from(Uint32Array.from({ length: Math.ceil(size / 4) + 1 }, (_, n) => from + n).buffer).subarray(
    0,
    size,
  );

test("coalescing gives the same bytes in pieces of 1 MiB, except the first and the last", async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 700_000 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, async (lengths) => {
      const input = lengths.map((length, index) => patterned(length, index * MIB));
      const expected = Buffer.concat(input);
      const seen: number[] = [];
      const pieces = async function* (): AsyncGenerator<Buffer> {
        for await (const piece of releasing(coalesce(Readable.from(input, { objectMode: false })))) {
          seen.push(piece.length);
          yield piece;
        }
      };
      expect((await bytesOf(pieces())).equals(expected)).toBe(true);
      const [first, ...others] = seen;
      expect(first).toBe(lengths[0]);
      expect(others.slice(0, -1).every((length) => length === MIB)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("coalesce passes the first piece on while the source waits", async () => {
  const child = spawn("sh", ["-c", "echo begun; read line; echo ended"]);
  const pieces = releasing(coalesce(child.stdout));
  expect((await pieces.next()).value?.toString()).toBe("begun\n");
  child.stdin.end("go on\n");
  expect((await bytesOf(pieces)).toString()).toBe("ended\n");
});

test("coalesce loses nothing of a child that has exited before anybody reads", async () => {
  const child = spawn("seq", ["1", "20000"]);
  const output = coalesce(child.stdout);
  await once(child, "exit");
  await new Promise(setImmediate);
  expect((await bytesOf(releasing(output))).toString().split("\n")).toHaveLength(20_001);
});

test("coalescing reads at most two pieces ahead, and a child ends once its reader stops", async () => {
  const child = spawn("cat", ["/dev/zero"]);
  const output = coalesce(child.stdout);
  await once(output, "readable");
  while (!child.stdout.isPaused()) await new Promise(setImmediate);
  expect(output.readableLength).toBe(2);
  output.destroy();
  await once(child, "exit");
});

test("coalescing fails if the source fails, or is closed before its end", async () => {
  const broken = (error?: Error): Readable => {
    const source = new Readable({ read: () => undefined });
    source.push("half");
    setImmediate(() => source.destroy(error));
    return source;
  };
  await expect(bytesOf(releasing(coalesce(broken(new Error("read failed")))))).rejects.toThrow("read failed");
  await expect(bytesOf(releasing(coalesce(broken())))).rejects.toThrow(/premature/i);
});
