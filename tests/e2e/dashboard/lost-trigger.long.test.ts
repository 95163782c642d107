import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import {
  type SourcePostgres,
  startSourcePostgres,
} from "../../../packages/agent/test/runs/source-postgres.ts";
import { attachedHost, type Host } from "../harness/host.ts";
import { expectAccessible } from "./open-dashboard.ts";
import { call, dashboard, useSourcesDashboard } from "./sources-dashboard.ts";

useSourcesDashboard();

let directory: string;
let postgres: SourcePostgres;
let host: Host;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "attestore-e2e-postgres-"));
  // The server runs as somebody else, who has to get through.
  chmodSync(directory, 0o755);
  postgres = await startSourcePostgres(directory);
  postgres.sql(`create table entries (id int primary key, cents int not null); insert into entries values (1, 100);
    create function stamp() returns trigger language plpgsql as 'begin return new; end';
    create trigger entries_stamp_new before insert on entries for each row execute function stamp();
    create trigger entries_stamp_old before update on entries for each row execute function stamp()`);
});
afterAll(async () => {
  host?.remove();
  await postgres?.close();
  rmSync(directory, { recursive: true, force: true });
});

test("the Drift tab names the trigger that a PostgreSQL source lost", async () => {
  const org = await dashboard.addOrg("Harbour Ledgers");
  host = await attachedHost(org, { LEDGER_URL: process.env["TEST_SOURCE_URL"] });
  host.addSources("  ledger: { engine: postgresql, connection: env:LEDGER_URL }\n");
  const backUp = async (): Promise<void> => {
    const { code, stderr } = await host.run("backup", "--source", "ledger");
    if (code !== 0) throw new Error(stderr);
  };
  await backUp();
  postgres.sql("drop trigger entries_stamp_old on entries");
  await backUp();

  const { items } = await call<{ items: { id: string }[] }>(org.owner, "GET", `/api/orgs/${org.id}/sources`);
  const page = await dashboard.open(org.owner, `/sources/${items[0]?.id ?? ""}`);
  await page.getByRole("tab", { name: "Drift" }).click();
  const lost = page.getByRole("list", { name: "Triggers, functions, grants and other objects" });
  await lost.getByText("removed: trigger public.entries.entries_stamp_old", { exact: true }).waitFor();
  await page
    .getByRole("region", { name: "Status" })
    .getByText(/Last change: .*1 removed/)
    .waitFor();
  await expectAccessible(page);
});
