import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabaseSwitch, type DatabaseSwitch } from "../../../test/database-switch.ts";
import { makeHistory } from "../../../test/history.ts";
import { startTestService, type TestService } from "../../../test/service.ts";

const TOKEN = "a-token-of-this-test";

let service: TestService;
let way: DatabaseSwitch;
beforeAll(async () => {
  service = await startTestService({ metricsToken: TOKEN });
  way = await openDatabaseSwitch(service.connection);
});
afterAll(async () => {
  await way.close();
  await service.close();
});

const scrape = (headers: Record<string, string> = {}, replica: Pick<TestService, "call"> = service) =>
  replica.call({ method: "GET", path: "/metrics", headers });

/** The value of a sample, by name and labels in any order. */
function sample(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  for (const line of text.split("\n")) {
    const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (match?.[1] !== name) continue;
    const found = Object.fromEntries(
      [...(match[2] ?? "").matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = "", value = ""]) => [
        key,
        value,
      ]),
    );
    if (Object.entries(labels).every(([key, value]) => found[key] === value)) return Number(match[3]);
  }
  return undefined;
}

test("/metrics shows requests, the log, queues, proofs and jobs", async () => {
  const org = await service.addOrg();
  const { agent, sourceId } = await makeHistory(service, org);
  const open = await agent.post("/v1/heartbeat", {
    agent_version: "0.1.0",
    hostname: "h",
    platform: "linux-x64",
    uptime_s: 1,
    sources: [{ slug: "untested", engine: "sqlite" }],
    acks: [],
  });
  const untested = (open.json["sources"] as { id: string; slug: string }[]).find(
    ({ slug }) => slug === "untested",
  );
  await service.queueCommand(sourceId, "backup");
  await service.pool.query(
    "insert into jobs (name, started_at, finished_at, running_since) values ('notify', now(), now() - interval '100 seconds', now())",
  );
  await service.call({ method: "GET", path: "/no/such/path/of/anything" });
  // Any user of this machine may ask without the token.
  const unnamed = (await scrape()).body.toString();
  expect(sample(unnamed, "attestore_source_proven", { source_id: sourceId })).toBe(1);
  expect(unnamed).not.toContain("orders");
  const { status, headers, body } = await scrape({ authorization: `Bearer ${TOKEN}` });
  const text = body.toString();
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  const count = "attestore_http_request_duration_seconds_count";
  expect(sample(text, count, { method: "POST", route: "/v1/receipts", status: "201" })).toBe(2);
  expect(sample(text, count, { route: "none", status: "404" })).toBe(1);
  expect(text).not.toContain("such/path");
  expect(sample(text, "attestore_database_up")).toBe(1);
  // One attach, two receipts.
  expect(sample(text, "attestore_log_entries", { org_id: org.id })).toBe(3);
  expect(sample(text, "attestore_log_batch_duration_seconds_count")).toBe(2);
  expect(sample(text, "attestore_log_queue_submissions")).toBe(0);
  expect(sample(text, "attestore_commands", { status: "queued" })).toBe(1);
  const labels = { org_id: org.id, source_id: sourceId, slug: "orders" };
  expect(sample(text, "attestore_source_proven", labels)).toBe(1);
  expect(sample(text, "attestore_source_proof_age_seconds", labels)).toBeGreaterThan(0);
  expect(sample(text, "attestore_source_proven", { source_id: untested?.id ?? "" })).toBe(0);
  expect(
    sample(text, "attestore_source_proof_age_seconds", { source_id: untested?.id ?? "" }),
  ).toBeUndefined();
  expect(sample(text, "attestore_job_lag_seconds", { job: "notify" })).toBeGreaterThan(90);
  expect(sample(text, "attestore_agents", { status: "active" })).toBe(1);
  expect(sample(text, "process_resident_memory_bytes")).toBeGreaterThan(1e6);
});

test.each([["x-forwarded-for"], ["forwarded"], ["x-real-ip"], ["via"]])(
  "a request that came through a proxy needs the token (%s)",
  async (header) => {
    const proxied = { [header]: "for=192.0.2.1" };
    expect((await scrape(proxied)).status).toBe(401);
    expect((await scrape({ ...proxied, authorization: "Bearer another-token-entirely" })).status).toBe(401);
    expect((await scrape({ ...proxied, authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  },
);

test("/metrics reports that the database is unreachable, and shows no old values", async () => {
  const replica = await service.listen(way.connection);
  expect((await scrape({}, replica)).body.toString()).toContain("attestore_source_proven{");
  way.off();
  service.logger.expected.add("the metrics that come from the database could not be read");
  await expect
    .poll(async () => sample((await scrape({}, replica)).body.toString(), "attestore_database_up"))
    .toBe(0);
  const text = (await scrape({}, replica)).body.toString();
  expect(text).not.toContain("attestore_source_proven{");
  expect(text).not.toMatch(/^attestore_mail_queue /m);
  expect(sample(text, "process_resident_memory_bytes")).toBeGreaterThan(1e6);
  way.on();
  await replica.close();
});

test("/metrics shows how long the event loop was blocked", async () => {
  const longest = async () => {
    // The timer that measures comes to its turn before and after.
    await new Promise((resolve) => setTimeout(resolve, 1));
    const until = performance.now() + 400;
    while (performance.now() < until) continue;
    const text = (await scrape()).body.toString();
    return sample(text, "attestore_event_loop_delay_seconds", { quantile: "1" });
  };
  await expect.poll(longest).toBeGreaterThan(0.3);
});
