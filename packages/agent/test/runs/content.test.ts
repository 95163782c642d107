import { createHmac } from "node:crypto";
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { contentDigest } from "../../src/engines/content/content-digest.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import {
  back,
  backup,
  changed,
  contentOf,
  place,
  server,
  testIt,
  useContentSource,
} from "./content-source.ts";

/** What came back is what went in: the content of PostgreSQL's tables. */

useContentSource();

test("an unchanged copy passes, and the receipts name everything that was compared and that was not", async () => {
  const { tables, content } = backup.sourceMetadata as unknown as {
    tables: { name: string; content?: string }[];
    content: Record<string, unknown>;
  };
  expect(tables.filter((each) => each.content === undefined).map(({ name }) => name)).toEqual([
    "public.child",
  ]);
  expect(content).toMatchObject({
    tables: 8,
    rest: null,
    large_objects: expect.stringMatching(/^[0-9a-f]{32}$/),
    settings: { bytea_output: "escape", client_encoding: "UTF8" },
    not_compared: {
      count: 3,
      named: [
        { name: "public.child", why: "inherited_columns" },
        { name: "public.orders.twice", why: "generated_column" },
        { name: "public.totals", why: "materialized_view" },
      ],
    },
  });
  const tested = await testIt(backup);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(contentOf(tested)).toMatchObject({
    result: "passed",
    observed: {
      tables: 8,
      differing: 0,
      not_compared: 3,
      sha256: content["sha256"],
      signed_sha256: content["sha256"],
      not_compared_tables:
        "public.child (inherited_columns), public.orders.twice (generated_column), public.totals (materialized_view)",
    },
  });
});

test("a digest can be recomputed with an identity; the metadata alone confirm no guess", async () => {
  const key = await openContentKey(backup.sourceMetadata, [place.identity]);
  const rows = execFileSync("psql", ["-XqAtc", "copy public.events_2026 (at, n) to stdout"], {
    env: { ...process.env, ...server.environment },
  });
  const sha256 = execFileSync("sha256sum", { input: rows, encoding: "utf8" }).slice(0, 64);
  const tag = createHmac("sha256", key ?? "")
    .update(JSON.stringify(["public", "events_2026", ["at", "n"], sha256]))
    .digest("hex")
    .slice(0, 32);
  const { tables, content } = backup.sourceMetadata as unknown as {
    tables: { name: string; content?: string }[];
    content: { sha256: string; large_objects: string };
  };
  expect(tables.find(({ name }) => name === "public.events_2026")?.content).toBe(tag);
  expect(content.sha256).toBe(
    contentDigest([
      ...tables.flatMap((each) => (each.content === undefined ? [] : [[each.name, each.content] as const])),
      ["pg_catalog.pg_largeobject", content.large_objects],
    ]),
  );
  expect(JSON.stringify(backup.sourceMetadata)).not.toContain(sha256);
  // Another backup of the same rows has other digests.
  const again = await back();
  const { tables: others } = again.sourceMetadata as unknown as {
    tables: { name: string; content?: string }[];
  };
  expect(others.find(({ name }) => name === "public.events_2026")?.content).not.toBe(tag);
});

test("one changed value fails the test, which names the table and quotes no row", async () => {
  const tested = await testIt(backup, {
    instead: await changed(place, backup, "the value that is FLIPPED", "the value that is flipped"),
  });
  expect(tested.result).toBe("failed");
  expect(tested.reason).toMatch(
    /^check inferred:content failed: the content of public\.orders differs from the dump: keep this backup, make another/,
  );
  expect(contentOf(tested)).toMatchObject({
    result: "failed",
    observed: { tables: 8, differing: 1, differing_tables: "public.orders" },
  });
  expect(JSON.stringify(tested)).not.toContain("the value");
  // Everything else that the test looks at is as it should be.
  expect(tested.checks.filter(({ result }) => result === "failed")).toHaveLength(1);
});

test("one changed byte of a large object fails the test", async () => {
  const tested = await testIt(backup, {
    instead: await changed(place, backup, "the object that is WHOLE", "the object that is wHOLE"),
  });
  expect(tested.reason).toMatch(
    /^check inferred:content failed: the content of pg_catalog\.pg_largeobject differs from the dump: /,
  );
  expect(tested.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
    "inferred:content",
  ]);
});
