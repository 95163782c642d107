import { expect, test } from "vitest";
import { named, run, script, SECRET, useCheckedCopies } from "./checked-copies.ts";

useCheckedCopies();

const canary = (id: string, query: string, from = "env:TEST_CANARY") => ({ id, query, canary: from });

test("a canary is held byte for byte, and no receipt shows it", async () => {
  const tested = await run("orders", [
    canary("text", "select token from canary"),
    canary("bytes", "select bytes from canary", "file:canary"),
  ]);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  for (const id of ["text", "bytes"]) {
    expect(named(tested, id)).toMatchObject({
      observed: { canary: "held" },
      expectation: "the one value of the row is the canary, byte for byte",
      result: "passed",
    });
  }
});

test("a canary fails if it comes back changed, and the receipt does not show what came", async () => {
  const cases: [id: string, query: string, error: string][] = [
    ["another-case", "select upper(token) as t from canary", "the value is different"],
    ["one-byte-more", "select token || ' ' as t from canary", "the value is different"],
    ["null", "select null::text as t", "the value is NULL"],
    ["no-row", "select token from canary where false", "the query returned no row"],
    ["two-rows", "select token from canary, generate_series(1, 2)", "the query returned more than one row"],
    ["two-columns", "select token, 1 as n from canary", "the row has 2 columns: select the canary alone"],
    ["number", "select 1 as n", "the value is not text"],
    ["mistake", "select token::int as n from canary", "the query failed (SQLSTATE 22P02)"],
  ];
  const tested = await run(
    "orders",
    cases.map(([id, query]) => canary(id, query)),
  );
  expect(tested.result).toBe("failed");
  for (const [id, , error] of cases)
    expect(named(tested, id)).toMatchObject({
      result: "failed",
      observed: { canary: "not held", error },
    });
  expect(JSON.stringify(tested)).not.toContain("nobody knows");
});

test("a canary is left out of the receipt if another check selects it", async () => {
  const tested = await run("orders", [
    canary("secret", "select token from canary"),
    { id: "leak", query: "select token, bytes, 1 as n from canary", expect: "n = 1" },
    {
      id: "deep",
      query: "select json_build_array(repeat('x', 300), token) as j, 1 as n from canary",
      expect: "n = 1",
    },
    { id: "hex", query: "select upper(encode(bytes, 'hex')) as h from canary", expect: "h is not null" },
    { id: "mistake", query: "select token::int as n from canary", expect: "n = 1" },
    {
      id: "printed",
      command: [
        await script(
          "leak",
          `#!/bin/sh\npsql -XAtc "select json_build_object('n', 1, 'token', token) from canary" restored\n`,
        ),
      ],
      expect: "n = 1",
    },
  ]);
  for (const id of ["leak", "deep", "hex", "printed"])
    expect(named(tested, id).observed).toEqual({ withheld: "the observed values contain a canary" });
  expect(JSON.stringify(tested)).not.toMatch(/nobody knows|6e6f626f6479/i);
});

test("a canary whose secret is unusable keeps the test from running, and the message does not quote it", async () => {
  const select = "select token from canary";
  for (const [check, message] of [
    [canary("secret", select, "env:TEST_NOT_SET"), /TEST_NOT_SET is not set/],
    [canary("secret", select, "file:nowhere"), /nowhere cannot be read/],
    [canary("secret", select, "env:TEST_SHORT_CANARY"), /16 to 4096 bytes/],
    [canary("secret", `select '${SECRET.replaceAll("'", "''")}' as t`), /^(?!.*nobody knows)/],
  ] as const) {
    const failed = run("orders", [check]);
    if (check.query === select) {
      await expect(failed).rejects.toMatchObject({
        code: "canary_unusable",
        message: expect.stringMatching(message),
      });
    } else await failed.catch((error: unknown) => expect(String(error)).toMatch(message));
  }
  const plain = "a plain canary of 31 characters";
  process.env["TEST_CANARY"] = plain;
  await expect(run("orders", [canary("secret", `select '${plain}' as t`)])).rejects.toMatchObject({
    code: "canary_unusable",
    message: expect.stringMatching(/appears in check secret itself/),
  });
  process.env["TEST_CANARY"] = SECRET;
});
