import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { combineShares, ShareError, splitSecret } from "./shamir.ts";
import { formatShare, parseShare } from "./share-text.ts";

function inScratch<Result>(work: (at: (name: string) => string) => Result): Result {
  const base = mkdtempSync(join(tmpdir(), "attestore-shares-"));
  try {
    return work((name) => join(base, name));
  } finally {
    rmSync(base, { recursive: true });
  }
}

const SECRET = Buffer.from("AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33\n");

it("libgfshare's gfcombine combines our shares", () => {
  inScratch((at) => {
    const shares = splitSecret(SECRET, { count: 7, threshold: 4 });
    for (const { number, bytes } of shares) writeFileSync(at(`s.${String(number).padStart(3, "0")}`), bytes);
    for (const chosen of [
      [1, 2, 3, 4],
      [7, 2, 5, 3],
      [1, 2, 3, 4, 5, 6, 7],
    ]) {
      rmSync(at("out"), { force: true });
      execFileSync("gfcombine", ["-o", at("out"), ...chosen.map((n) => at(`s.00${n}`))]);
      expect(readFileSync(at("out"))).toEqual(SECRET);
    }
  });
});

it("shares of libgfshare's gfsplit are combined", () => {
  inScratch((at) => {
    writeFileSync(at("secret"), SECRET);
    execFileSync("gfsplit", ["-n", "3", "-m", "6", at("secret"), at("s")]);
    const shares = readdirSync(at("."))
      .filter((name) => /^s\.\d{3}$/.test(name))
      .map((name) => ({ number: Number(name.slice(2)), bytes: readFileSync(at(name)) }));
    expect(shares).toHaveLength(6);
    expect(Buffer.from(combineShares(shares.slice(0, 3)))).toEqual(SECRET);
    expect(Buffer.from(combineShares(shares.slice(3)))).toEqual(SECRET);
    expect(Buffer.from(combineShares(shares.slice(0, 2)))).not.toEqual(SECRET);
  });
});

it("any threshold of shares, in any order, gives the secret; one fewer does not", () => {
  const splits = fc
    .tuple(fc.uint8Array({ minLength: 16, maxLength: 80 }), fc.integer({ min: 2, max: 6 }), fc.nat(4))
    .chain(([secret, threshold, more]) =>
      fc.record({
        secret: fc.constant(secret),
        threshold: fc.constant(threshold),
        count: fc.constant(threshold + more),
        order: fc.shuffledSubarray(
          Array.from({ length: threshold + more }, (_, index) => index),
          { minLength: threshold, maxLength: threshold },
        ),
      }),
    );
  fc.assert(
    fc.property(splits, ({ secret, threshold, count, order }) => {
      const shares = splitSecret(secret, { count, threshold });
      const chosen = order.flatMap((index) => shares[index] ?? []);
      expect(combineShares(chosen)).toEqual(secret);
      // By chance only once in 2^128.
      expect(combineShares(chosen.slice(1))).not.toEqual(secret);
    }),
  );
});

it("a share alone is as likely under one secret as under another", () => {
  // With threshold 2 a byte of a share takes every value evenly, whatever the secret's byte is.
  for (const byte of [0, 0x41, 0xff]) {
    const seen = new Map<number, number>();
    for (const { bytes } of splitSecret(new Uint8Array(51_200).fill(byte), { count: 2, threshold: 2 }).slice(
      1,
    ))
      for (const value of bytes) seen.set(value, (seen.get(value) ?? 0) + 1);
    expect(seen.size).toBe(256);
    // 200 of each are expected; 7 standard deviations.
    for (const times of seen.values()) expect(Math.abs(times - 200)).toBeLessThan(100);
  }
});

it("text that is not a share is refused", () => {
  const [first, second] = splitSecret(SECRET, { count: 2, threshold: 2 });
  if (first === undefined || second === undefined) throw new Error("two shares were asked for");
  expect(() => combineShares([first, first])).toThrow(ShareError);
  expect(() => combineShares([])).toThrow(ShareError);
  expect(() => combineShares([first, { ...second, bytes: second.bytes.subarray(1) }])).toThrow(ShareError);
  for (const [count, threshold] of [
    [1, 1],
    [2, 3],
    [256, 2],
    [3, 1],
  ] as const)
    expect(() => splitSecret(SECRET, { count, threshold })).toThrow(ShareError);
});

it("the checksum finds a slip in a typed share, in its line", () => {
  const [share] = splitSecret(SECRET, { count: 2, threshold: 2 });
  if (share === undefined) throw new Error("a share was asked for");
  const text = formatShare(share);
  expect(parseShare(`Kept by the CFO\n\n${text.toUpperCase()}\nthe end`)).toEqual({
    ...share,
    bytes: Buffer.from(share.bytes),
  });
  const lines = text.split("\n");
  const third = lines[2] ?? "";
  const swapped = third.replace(/ {2}(.)/, (_, digit: string) => `  ${digit === "0" ? "1" : "0"}`);
  expect(() => parseShare(text.replace(third, swapped))).toThrow(/line 3 of share 1/);
  expect(() => parseShare(text.replace(`${third}\n`, ""))).toThrow(/line 3 of share 1 is missing/);
  expect(() => parseShare("nothing")).toThrow(ShareError);
});
