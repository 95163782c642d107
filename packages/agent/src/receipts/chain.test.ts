import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replaceJsonFile } from "@attestore/host/durable-files";
import { afterEach, beforeEach, expect, it } from "vitest";
import { layoutOf, makeLayout, type Layout } from "../state/layout.ts";
import { isLocked } from "../state/lock.ts";
import { signedEventFileName, signNext } from "./chain.ts";

let layout: Layout;

beforeEach(async () => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), "attestore-chain-")));
  await makeLayout(layout);
});
afterEach(() => rmSync(layout.root, { recursive: true }));

it("nobody else signs until the statement is in the spool, however long writing it takes", async () => {
  const written = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const signed = signNext(layout, async () => {
    begun.resolve();
    await written.promise;
  });
  await begun.promise;
  // Where the lock goes with the function that took it, it is gone after one more turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(isLocked(layout, "chain")).toBe(true);
  written.resolve();
  await signed;
  expect(isLocked(layout, "chain")).toBe(false);
});

it("statements that are signed at once have a number each", async () => {
  const names = ["a", "b", "c", "d"];
  const numbers = await Promise.all(
    names.map((name) =>
      signNext(layout, async ({ sequence }) => {
        // The payload is what the next link names; here only its place matters.
        const envelope = { payloadType: "text/plain", payload: "eA==", signatures: [] };
        const file = signedEventFileName(sequence + 1, name);
        await replaceJsonFile(join(layout.eventsWaiting, file), { envelope });
        return sequence + 1;
      }),
    ),
  );
  expect(numbers.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
  expect(readdirSync(layout.eventsWaiting)).toHaveLength(4);
});
