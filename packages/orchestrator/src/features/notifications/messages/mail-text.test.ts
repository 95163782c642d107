import { SUBSCRIBABLE_TYPES } from "@attestore/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { mailOf } from "./mail-text.ts";

const data = {
  org: { id: "org_1", name: "Example" },
  source: { id: "src_1", slug: "orders-db", name: "Orders" },
  incident: {
    id: "evt_1",
    kind: "restore_test_missed",
    began_at: "2026-11-20T02:00:00.000Z",
    resolution: "withdrawn",
  },
  cause: { reason: "not_delivered", scheduled_at: "2026-11-21T02:00:00.000Z" },
  failed_checks: [{ id: "has-orders", expectation: "n >= 1000" }],
  suspicious: [
    { table: "public.orders", column: "note", measure: "random", now: 12, before: 0 },
    { table: ".", column: "names", measure: "notes", now: 2, before: 0 },
    { table: "evil.example", column: "x", measure: "unknown", now: 2, before: 0 },
  ],
  suspicious_count: 5,
  indicators: [
    { field: "engine_version", before: "15.4", after: "16.1" },
    {
      field: "schema_hash",
      before: "ab",
      after: "cd",
      changes: { added: ["table t"], removed: [], altered: [] },
    },
  ],
};
const occurredAt = new Date("2026-11-21T04:00:00.000Z");
const write = (type: string, said: Record<string, unknown> = data) =>
  mailOf({ id: "ntf_1", type, occurredAt, data: said }, "https://backups.example.org");

test("a mail says what happened to what, why, and where to look", () => {
  expect(write("restore_test.failed")).toEqual({
    subject: "[Example] restore test of Orders FAILED",
    text: `A backup of Orders was restored, but the restored data is not what it should be.

Reason: its agent has not fetched the command

Checks that did not hold:

  has-orders: expected n >= 1000

Do not rely on this backup. You get this message once, and another one when a restore test passes.
At 2026-11-21T04:00:00.000Z.

https://backups.example.org/sources/src_1

--
You get this mail as a member of Example on Attestore. To change what you receive: https://backups.example.org/notifications
`,
  });
  expect(write("backup.missed").text).toContain("scheduled for 2026-11-21T02:00:00.000Z");
  expect(write("drift.detected").text).toContain(
    '  engine_version: "15.4" → "16.1"\n  schema_hash\n    added: table t\n',
  );
  expect(write("restore_test.suspicious").text).toContain(`
  public[.]orders.note: the share of texts that look encrypted is 1.2 %; it was 0 %
  files (names): the number of names of known ransom notes is 2; it was 0
  evil[.]example
  and 2 more
`);
  expect(write("incident.ended").subject).toBe("[Example] restore test missed of Orders is over");
});

test.each([...SUBSCRIBABLE_TYPES, "notification.test"])(
  "%s: whatever a host's names hold, the mail keeps its form",
  (type) => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.jsonValue(), (name, any) => {
        const { subject, text } = write(type, {
          ...data,
          source: { id: "src_1", name },
          agent: { id: "agent_1", name, hostname: name },
          cause: any,
          failed_checks: any,
          indicators: any,
        });
        expect(subject).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
      }),
      { numRuns: 50 },
    );
  },
);

test.each([
  [
    "Your account at https://evil.example/login is locked",
    "Your account at https[:]//evil[.]example/login is locked",
  ],
  ["www.evil.example", "www[.]evil[.]example"],
  ["mail a.b@evil.example", "mail a[.]b[at]evil[.]example"],
  ["evil\u3002example", "evil[.]example"],
  ["<a href=//evil.example>x</a>\r\n\u202e", "a href=//evil[.]examplex/a "],
  ["mailto:x", "mailto[:]x"],
  ["203.0.113.7:8080/pay", "203[.]0[.]113[.]7[:]8080/pay"],
  ["Müller & Söhne Ltd. (Hamburg)", "Müller & Söhne Ltd. (Hamburg)"],
])("an organisation called %j is %j in its mails: nothing of it is a link", (name, shown) => {
  const { subject, text } = write("backup.failed", { ...data, org: { id: "org_1", name } });
  expect(subject).toContain(`[${shown}] `);
  expect(text).toContain(`as a member of ${shown} on`);
  const source = write("backup.failed", { ...data, source: { id: "src_1", name } });
  expect(source.subject).toBe(`[Example] backup of ${shown} failed`);
  expect(source.text).toContain(`A backup of ${shown} failed.`);
  const { text: ofAgent } = write("agent.silent", { ...data, agent: { id: "agent_1", name, hostname: "h" } });
  expect(ofAgent).toContain(`The agent ${shown} (h) has stopped`);
});

const EVIL = "https://evil.example/pay?now=1";
const PLAIN = "https[:]//evil[.]example/pay?now=1";
test("a host's text about a check, a reason or a change never becomes a link; numbers and times stay as they are", () => {
  const { text } = write("restore_test.failed", {
    ...data,
    cause: { reason: EVIL },
    failed_checks: [{ id: EVIL, expectation: `${EVIL} at 12:30, n>=1.5` }],
  });
  expect(text).toContain(`Reason: ${PLAIN}\n`);
  expect(text).toContain(`  ${PLAIN}: expected ${PLAIN} at 12:30, n>=1.5\n`);
  const drift = write("drift.detected", {
    ...data,
    indicators: [
      { field: EVIL, before: { a: 1, v: "15.4" }, after: EVIL },
      { field: "schema_hash", changes: { added: [EVIL], removed: [], altered: [] } },
    ],
  });
  expect(drift.text).toContain(`  ${PLAIN}: {"a":1,"v":"15.4"} → "${PLAIN}"\n`);
  expect(drift.text).toContain(`    added: ${PLAIN}\n`);
  expect(drift.text).not.toContain("evil.example");
});
