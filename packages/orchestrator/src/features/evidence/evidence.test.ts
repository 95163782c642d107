import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeHistory, type History } from "../../../test/history.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let owner: TestUser;
let history: History;
const directory = mkdtempSync(join(tmpdir(), "attestore-evidence-"));
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg("Example <b>&</b> Sons");
  owner = await service.signIn(org);
  history = await makeHistory(service, org, { backups: 3 });
});
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true });
});

test("a pack is a ZIP", async () => {
  const answer = await owner.get(`/api/orgs/${org.id}/evidence`);
  expect(answer.status, answer.body.toString().slice(0, 300)).toBe(200);
  const path = join(directory, "pack.zip");
  writeFileSync(path, answer.body);
  execFileSync("unzip", ["-q", "-o", path, "-d", join(directory, "pack")]);
  expect(history.backups).toHaveLength(3);
});
