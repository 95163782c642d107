import { DriftIndicator, RestoreTestRecord } from "@attestore/contract";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeHistory } from "../../../test/history.ts";
import { recordBackup, recordReceipt } from "../../../test/recorded.ts";
import {
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let agent: TestAgent;
let owner: TestUser;
let slugs = 0;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  agent = await service.attach(org);
  owner = await service.signIn(org);
});
afterAll(() => service.close());

async function source(): Promise<string> {
  const body = { slug: `h${(slugs += 1)}`, engine: "sqlite", agent_id: agent.id };
  return (await owner.post(`/api/orgs/${org.id}/sources`, body)).json["id"] as string;
}
const day = (n: number): Date => new Date(Date.UTC(2026, 2, n, 12));
const of = (sourceId: string) => ({ orgId: org.id, sourceId, agentId: agent.id });
const read = async (id: string, call: string) => {
  const answer = await owner.get(`/api/orgs/${org.id}/sources/${id}/${call}`);
  expect(answer.status, answer.body.toString()).toBe(200);
  return answer.json as { items: Record<string, unknown>[]; next_cursor: string | null };
};

test("the timeline merges events, receipts, backups and commands, newest first, page by page without a gap", async () => {
  const id = await source();
  const other = await source();
  for (let n = 1; n <= 6; n += 1) {
    const backupId = await recordBackup(service.database, { ...of(id), at: day(n) });
    await recordReceipt(service.database, { ...of(id), backupId, kind: "backup", at: day(n) });
    await service.queueCommand(id, "backup");
    await recordBackup(service.database, { ...of(other), at: day(n) });
  }
  await agent.post("/v1/events", {
    kind: "backup_failed",
    source_id: id,
    occurred_at: day(1).toISOString(),
    detail: {},
  });
  const whole = (await read(id, "timeline?limit=200")).items;
  expect(whole.map(({ type }) => String(type)).toSorted()).toEqual(
    ["event", ...["backup", "command", "receipt"].flatMap((type) => Array<string>(6).fill(type))].toSorted(),
  );
  const times = whole.map(({ at }) => at as string);
  expect(times).toEqual(times.toSorted().toReversed());
  const paged: unknown[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: Awaited<ReturnType<typeof read>> = await read(
      id,
      `timeline?limit=4${cursor && `&cursor=${cursor}`}`,
    );
    paged.push(...page.items);
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(whole);
  expect((await owner.get(`/api/orgs/${org.id}/sources/${id}/timeline?cursor=x`)).status).toBe(400);
});

test("the timeline shows one topic, or a period, and has pages", async () => {
  const id = await source();
  for (let n = 1; n <= 4; n += 1) {
    const metadata = { schema_summary: { objects: [], omitted: 0 } };
    const backupId = await recordBackup(service.database, { ...of(id), at: day(n), metadata });
    await recordReceipt(service.database, { ...of(id), backupId, kind: "backup", at: day(n) });
    const result = n === 2 ? "failed" : "passed";
    await recordReceipt(service.database, { ...of(id), backupId, kind: "restore_test", result, at: day(n) });
    await service.queueCommand(id, "backup");
  }
  const event = { source_id: id, occurred_at: day(1).toISOString(), detail: {} };
  for (const kind of ["backup_failed", "restore_failed", "change_accepted"])
    await agent.post("/v1/events", { kind, ...event });
  const shown = async (query: string) =>
    (await read(id, `timeline?${query}`)).items.map(
      ({ type, event: e, receipt: r }) =>
        `${String(type)} ${((e ?? r ?? { kind: "" }) as { kind: string }).kind}`,
    );
  const counted = async (query: string) => {
    const counts: Record<string, number> = {};
    for (const name of await shown(query)) counts[name] = (counts[name] ?? 0) + 1;
    return counts;
  };
  expect(await counted("topic=backups")).toEqual({
    "event backup_failed": 1,
    "receipt backup": 4,
    "backup ": 4,
  });
  expect(await counted("topic=restore_tests")).toEqual({
    "event restore_failed": 1,
    "event change_accepted": 1,
    "receipt restore_test": 4,
  });
  expect(await counted("topic=commands")).toEqual({ "command ": 4 });
  expect(await shown("topic=trouble")).toEqual([
    "event restore_failed",
    "event backup_failed",
    "receipt restore_test",
  ]);
  const period = `from=${day(2).toISOString()}&to=${day(4).toISOString()}`;
  expect(await counted(period)).toEqual({ "backup ": 2, "receipt backup": 2, "receipt restore_test": 2 });
  const first = await read(id, "timeline?topic=restore_tests&limit=4");
  const second = await read(id, `timeline?topic=restore_tests&limit=4&cursor=${first.next_cursor ?? ""}`);
  expect([first.items.length, second.items.length, second.next_cursor]).toEqual([4, 2, null]);
  expect(JSON.stringify((await read(id, "timeline")).items)).not.toContain("schema_summary");
  for (const query of ["topic=all", "from=yesterday"])
    expect((await owner.get(`/api/orgs/${org.id}/sources/${id}/timeline?${query}`)).status).toBe(400);
});

test("restore tests are what their receipts say, newest first, page by page", async () => {
  const { sourceId, backups } = await makeHistory(service, org, { slug: "tested", backups: 3 });
  const { items, next_cursor } = await read(sourceId, "restore-tests?limit=2");
  expect(items.map(({ receipt_id }) => receipt_id)).toEqual([
    backups[2]?.receipts.restore_test,
    backups[1]?.receipts.restore_test,
  ]);
  for (const item of items) expect([...Value.Errors(RestoreTestRecord, item)]).toEqual([]);
  expect(items[0]).toMatchObject({
    backup_id: backups[2]?.id,
    result: "passed",
    checks: [{ id: "has-orders" }],
  });
  const rest = await read(sourceId, `restore-tests?cursor=${next_cursor ?? ""}`);
  expect(rest.items.map(({ backup_id }) => backup_id)).toEqual([backups[0]?.id]);
  const failed = await makeHistory(service, org, { slug: "failing", result: "failed" });
  expect((await read(failed.sourceId, "restore-tests")).items).toMatchObject([
    { result: "failed", reason: "a check failed" },
  ]);
});

test("drift names what changed between backups and in restore tests, and since when", async () => {
  const id = await source();
  const summary = (tables: Record<string, Record<string, string>>) => ({
    schema_summary: {
      objects: Object.entries(tables).map(([name, parts]) => ({ kind: "table", name, parts })),
      omitted: 0,
    },
  });
  const first = await recordBackup(service.database, {
    ...of(id),
    at: day(1),
    metadata: summary({ orders: { id: "int", total: "int" }, old: { id: "int" } }),
  });
  const second = await recordBackup(service.database, {
    ...of(id),
    at: day(2),
    cipher: { name: "age-v1", recipients: ["age1other"] },
    metadata: {
      schema_hash: "cd".repeat(32),
      engine_version: "16.1",
      ...summary({ orders: { id: "int", total: "numeric" }, fresh: { id: "int" } }),
    },
  });
  for (const [backupId, version] of [
    [first, "0.1.0"],
    [second, "0.2.0"],
  ] as const)
    await recordReceipt(service.database, {
      ...of(id),
      backupId,
      kind: "backup",
      at: day(3),
      predicate: { agent_version: version },
    });
  const tested = { ...of(id), backupId: second, kind: "restore_test", result: "passed", at: day(4) } as const;
  const runtime = { kind: "process", engine: "postgresql", engine_version: "15.14" };
  await recordReceipt(service.database, { ...tested, predicate: { runtime } });
  const { items, next_cursor } = await read(id, "drift");
  expect(next_cursor).toBeNull();
  expect(items.find(({ kind }) => kind === "schema")).toEqual({
    kind: "schema",
    field: "schema_hash",
    before: "ab".repeat(32),
    after: "cd".repeat(32),
    since: day(2).toISOString(),
    backup_id: second,
    previous_backup_id: first,
    changes: {
      added: ["table fresh", "table fresh id"],
      removed: ["table old", "table old id"],
      altered: ["table orders total"],
    },
  });
  const environment = items.filter(({ kind }) => kind === "environment");
  expect(environment.map(({ field, before, after }) => [field, before, after]).toReversed()).toEqual([
    ["engine_version", "15.14", "16.1"],
    ["cipher.recipients", ["age1recipient"], ["age1other"]],
    ["agent_version", "0.1.0", "0.2.0"],
    ["runtime.engine_version", "16.1", "15.14"],
  ]);
});

test("drift of the schema is by the exact hash where both backups have one", async () => {
  const id = await source();
  const hashes = [
    {},
    // An agent that signs it from now on changes nothing at the source.
    { exact_schema_hash: "11".repeat(32) },
    { exact_schema_hash: "22".repeat(32) },
    { exact_schema_hash: "22".repeat(32), schema_hash: "cd".repeat(32) },
    { schema_hash: "ef".repeat(32), exact_schema_hash: "x".repeat(10_000) },
  ];
  for (const [n, metadata] of hashes.entries())
    await recordBackup(service.database, { ...of(id), at: day(n + 1), metadata });
  const { items } = await read(id, "drift");
  expect(items.map(({ kind, field, since }) => [kind, field, since])).toEqual([
    ["schema", "schema_hash", day(5).toISOString()],
    ["schema", "exact_schema_hash", day(3).toISOString()],
  ]);
  expect(items[1]).toMatchObject({ before: "11".repeat(32), after: "22".repeat(32) });
});

test("drift names what has another definition, of one key, and the kind of what is not named", async () => {
  const id = await source();
  const tag = (digit: string): string => digit.repeat(16);
  const others = (key: string | null, named: [string, string, string?][], kinds: Record<string, string>) => ({
    schema_summary: { objects: [], omitted: 0 },
    other_objects: {
      sha256: "11".repeat(32),
      kinds: { function: 3, trigger: 1 },
      named,
      ...(key === null ? {} : { definitions: { key: tag(key), kinds } }),
    },
  });
  const trigger = (digit: string): [string, string, string] => ["trigger", "public.lines.a", tag(digit)];
  const metadata = [
    others(null, [["trigger", "public.lines.a"]], {}),
    // An agent that sends them from now on changes nothing at the source.
    others("a", [trigger("1")], { function: tag("2"), trigger: tag("3") }),
    others("a", [trigger("4")], { function: tag("2"), trigger: tag("5") }),
    // Of the functions none is named.
    others("a", [trigger("4")], { function: tag("6"), trigger: tag("5") }),
    // What another key made cannot be compared, and neither can what is no tag.
    others("b", [trigger("7")], { function: tag("8"), trigger: tag("9") }),
    others("b", [["trigger", "public.lines.a", "x"]], { function: "x", trigger: tag("9") }),
  ];
  for (const [n, each] of metadata.entries())
    await recordBackup(service.database, { ...of(id), at: day(n + 1), metadata: each });
  const { items } = await read(id, "drift");
  const altered = (name: string) => ({ added: [], removed: [], altered: [name] });
  expect(items.map(({ field, changes, since }) => [since, field, changes])).toEqual([
    [day(4).toISOString(), "other_objects", altered("function (definitions)")],
    [day(3).toISOString(), "other_objects", altered("trigger public.lines.a")],
  ]);
});

test("drift names a trigger that a source lost, and tells how many grants, where both backups have them", async () => {
  const id = await source();
  const others = (triggers: string[], grants: number, sha256: string) => ({
    schema_summary: { objects: [], omitted: 0 },
    other_objects: {
      sha256,
      kinds: { ...(triggers.length === 0 ? {} : { trigger: triggers.length }), grant: grants },
      named: triggers.map((name) => ["trigger", `public.lines.${name}`]),
    },
  });
  const metadata = [
    { schema_summary: { objects: [], omitted: 0 } },
    // An agent that sends them from now on changes nothing at the source.
    others(["a", "b"], 9, "11".repeat(32)),
    others(["a"], 8, "22".repeat(32)),
    others([], 8, "33".repeat(32)),
    { ...others(["c"], 8, "44".repeat(32)), schema_hash: "ef".repeat(32) },
    { other_objects: { sha256: "55".repeat(32), kinds: { trigger: "x".repeat(10_000) } } },
  ];
  for (const [n, each] of metadata.entries())
    await recordBackup(service.database, { ...of(id), at: day(n + 1), metadata: each });
  const { items } = await read(id, "drift");
  expect(items.map(({ field, changes, since }) => [since, field, changes])).toEqual([
    [day(6).toISOString(), "schema_hash", undefined],
    [day(5).toISOString(), "other_objects", { added: ["trigger public.lines.c"], removed: [], altered: [] }],
    [day(5).toISOString(), "schema_hash", { added: [], removed: [], altered: [] }],
    [day(4).toISOString(), "other_objects", { added: [], removed: ["trigger public.lines.a"], altered: [] }],
    [
      day(3).toISOString(),
      "other_objects",
      { added: [], removed: ["trigger public.lines.b"], altered: ["grant (9, now 8)"] },
    ],
  ]);
  expect(items.at(-1)).toMatchObject({
    kind: "schema",
    before: { trigger: 2, grant: 9 },
    after: { trigger: 1, grant: 8 },
  });
  for (const item of items) expect([...Value.Errors(DriftIndicator, item)]).toEqual([]);
});

test("drift is empty if nothing changed, and continues through pages of backups", async () => {
  const id = await source();
  for (let n = 1; n <= 5; n += 1)
    await recordBackup(service.database, {
      ...of(id),
      at: day(n),
      metadata: n >= 3 ? { dump_format: "tar" } : {},
    });
  const found: unknown[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: Awaited<ReturnType<typeof read>> = await read(
      id,
      `drift?limit=2${cursor && `&cursor=${cursor}`}`,
    );
    found.push(...page.items);
    cursor = page.next_cursor;
  }
  expect(found).toMatchObject([{ field: "dump_format", after: "tar", since: day(3).toISOString() }]);
});
