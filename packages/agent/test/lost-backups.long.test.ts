import { expect, it } from "vitest";
import { at, cli, json, service, useInvoicesAndPapers, writeInvoices } from "./invoices-and-papers.ts";
import { failure } from "./service/test-service.ts";

useInvoicesAndPapers();

interface Source {
  source: string;
  verdict: string;
  last_backup: { id: string } | null;
}
const status = async () => {
  const found = JSON.parse((await cli(["status", "--json"])).stdout) as {
    sources: Source[];
    problems: { what: string }[];
  };
  const [invoices] = found.sources;
  return { invoices, said: found.problems.map(({ what }) => what).join("\n") };
};
const answerReceipts = (status_: number, error: string): void => {
  service.interfere = ({ route }) =>
    route === "POST /v1/receipts" ? failure(status_, error, "x") : undefined;
};
const ofInvoices = async (...commands: string[]): Promise<void> => {
  for (const command of commands) await cli([command, "--source", "invoices"]);
};

it("what the service lost is not proven, is named, and is not the backup that is restored", async () => {
  await ofInvoices("backup", "restore-test");
  const kept = (await status()).invoices?.last_backup?.id;
  answerReceipts(503, "unavailable");
  await ofInvoices("backup", "restore-test");
  const before = (await status()).invoices;
  const lost = before?.last_backup?.id ?? "";
  expect([before?.verdict, lost === kept]).toEqual(["proven", false]);

  service.backups.delete(lost);
  answerReceipts(422, "backup_unknown");
  await cli(["sync"]);
  service.interfere = () => undefined;
  const { invoices, said } = await status();
  expect(invoices).toMatchObject({
    verdict: "proven",
    last_backup: { id: kept },
    last_test: { backup_id: kept },
    last_clean_backup: kept,
    lost_backups: [lost],
  });
  expect(said).toContain(`invoices: the service has no record of ${lost}`);
  const named = await cli(["restore", "--source", "invoices", "--backup", lost, "--output", at("out.db")]);
  expect([named.code, named.stderr]).toEqual([2, expect.stringContaining(`no record of ${lost}`)]);

  await ofInvoices("backup", "restore-test");
  expect(await status()).toMatchObject({ invoices: { verdict: "proven", lost_backups: [lost] } });
  expect((await status()).said).not.toContain("no record");
});

it("a source whose only backup the service lost has no backup", async () => {
  answerReceipts(503, "unavailable");
  await ofInvoices("backup", "restore-test");
  const lost = (await status()).invoices?.last_backup?.id ?? "";
  service.backups.delete(lost);
  answerReceipts(422, "backup_unknown");
  await cli(["sync"]);
  service.interfere = () => undefined;
  const { invoices, said } = await status();
  expect(invoices).toMatchObject({ verdict: "no_backup", last_backup: null, last_test: null });
  expect(said).toContain(`invoices: the service has no record of ${lost}`);
  expect(said).not.toContain("invoices: no backup yet");
  const restored = await cli(["restore", "--source", "invoices", "--output", at("out.db")]);
  expect([restored.code, restored.stderr]).toEqual([2, expect.stringContaining(`no record of ${lost}`)]);
  expect(await json(["receipts", "list", "--source", "invoices"])).toMatchObject({
    receipts: [{ state: "refused" }, { state: "refused" }],
  });
});

it("a backup that the service took and lost later is not proven either", async () => {
  await ofInvoices("backup", "restore-test");
  const lost = (await status()).invoices?.last_backup?.id ?? "";
  answerReceipts(422, "backup_unknown");
  await ofInvoices("restore-test");
  service.interfere = () => undefined;
  expect((await status()).invoices).toMatchObject({ verdict: "no_backup", lost_backups: [lost] });
});

it("a failed restore test counts although the service calls its backup unknown", async () => {
  await ofInvoices("backup", "restore-test");
  writeInvoices(50);
  await ofInvoices("backup");
  answerReceipts(422, "backup_unknown");
  await ofInvoices("restore-test");
  service.interfere = () => undefined;
  expect((await status()).invoices).toMatchObject({ verdict: "failed", last_test: { result: "failed" } });
});
