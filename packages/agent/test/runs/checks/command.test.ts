import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { named, place, run, script, useCheckedCopies } from "./checked-copies.ts";

useCheckedCopies();

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

test("a command finds the restored PostgreSQL through its environment, and its JSON object is the row", async () => {
  const path = await script(
    "count",
    `#!/bin/sh\npsql -XAtc "select row_to_json(t) from (select count(*) as n, '$1' as said, current_setting('transaction_read_only') as ro from orders) t"\n`,
  );
  const tested = await run("orders", [
    { id: "counted", command: [path, "a b; $(c)"], expect: "n = 100 and said = 'a b; $(c)' and ro = 'on'" },
  ]);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(named(tested, "counted")).toMatchObject({ observed: { n: 100, said: "a b; $(c)", ro: "on" } });
});

test("a command finds a restored file and tree through its environment", async () => {
  const sqlite = await script(
    "kv",
    `#!/bin/sh\nsqlite3 -json "$ATTESTORE_RESTORED" 'select count(*) as n from kv' | tr -d '[]'\n`,
  );
  expect((await run("kv", [{ id: "n", command: sqlite, expect: "n = 2" }])).result).toBe("passed");
  const tree = await script(
    "tree",
    `#!/bin/sh\nprintf '{"content":"%s"}' "$(cat "$ATTESTORE_RESTORED/file")"\n`,
  );
  expect((await run("tree", [{ id: "c", command: tree, expect: "content = 'content'" }])).result).toBe(
    "passed",
  );
});

test("a command fails for wrong output and for a wrong end, with a reason for each", async () => {
  const printed: Record<string, [json: string, observed: unknown]> = {
    "not-met": [`{"n":1}`, { n: 1 }],
    "no-json": ["n = 2", { error: "the row is not JSON" }],
    "two-objects": [`{"n":2}{"n":2}`, { error: "the row is not JSON" }],
    "no-object": ["[2]", { error: "the row is not a JSON object" }],
    nothing: ["", { error: "the row is not JSON" }],
  };
  const ended: Record<string, [text: string, error: unknown]> = {
    "exit-code": [
      `echo '{"n":2}'; echo secret of the data >&2; exit 3`,
      "the command ended with exit code 3",
    ],
    endless: ["yes", expect.stringMatching(/printed more than 262144 bytes/)],
    "not-utf-8": [`printf '{"n":"\\377"}'`, "the command's output is not UTF-8"],
  };
  const checks = [];
  for (const [id, [json]] of Object.entries(printed))
    checks.push({ id, command: await script(id, `#!/bin/sh\nprintf '%s' '${json}'\n`), expect: "n = 2" });
  for (const [id, [text]] of Object.entries(ended))
    checks.push({ id, command: await script(id, `#!/bin/sh\n${text}\n`), expect: "n = 2" });
  const tested = await run("kv", checks);
  expect(tested.result).toBe("failed");
  for (const [id, [, observed]] of Object.entries(printed)) {
    expect(named(tested, id).result, id).toBe("failed");
    expect(named(tested, id).observed, id).toEqual(observed);
  }
  for (const [id, [, error]] of Object.entries(ended)) {
    expect(named(tested, id).result, id).toBe("failed");
    expect(named(tested, id).observed["error"], id).toEqual(error);
  }
  expect(JSON.stringify(tested)).not.toContain("secret of the data");
});

test("a command that does not exist gives no result; one that does not end fails and leaves nothing running", async () => {
  await expect(run("kv", [{ id: "n", command: "/no/such/program", expect: "n = 2" }])).rejects.toMatchObject({
    code: "tool_missing",
  });
  const long = `1000.${process.pid}`;
  const endless = await script("endless", `#!/bin/sh\nsleep ${long} & wait\n`);
  const sleeps = (): boolean =>
    readdirSync("/proc").some((pid) => /^[0-9]+$/.test(pid) && commandLine(pid).startsWith(`sleep\0${long}`));
  const running = run("kv", [{ id: "n", command: endless, expect: "n = 2" }], { check_timeout_s: 5 });
  await expect.poll(sleeps).toBe(true);
  const tested = await running;
  expect(tested.result).toBe("failed");
  expect(named(tested, "n").observed).toEqual({
    error:
      "the command did not end within 5 s: give the source's checks more time (check_timeout_s in config.yaml) or make it cheaper",
  });
  await expect.poll(sleeps).toBe(false);
  expect(readdirSync(place.scratch)).toEqual([]);
});

test("a command runs last, so its changes to the data affect no other check", async () => {
  const path = await script(
    "spoil",
    `#!/bin/sh\nsqlite3 "$ATTESTORE_RESTORED" "update kv set v = 'spoilt'" && echo '{"ok":true}'\n`,
  );
  const tested = await run("kv", [
    { id: "spoil", command: path, expect: "ok" },
    { id: "one", query: "select v from kv where k = 1", expect: "v = 'one'" },
  ]);
  expect(tested.result).toBe("passed");
});
