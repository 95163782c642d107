/**
 * The service held against its own OpenAPI document by schemathesis: nothing is answered that is
 * not in it, and nothing fails.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { declareSource, writeEncryptedDump } from "./harness/backups.ts";
import { api } from "./harness/https.ts";
import { attach, createAuthKey, type WireAgent } from "./harness/organisation.ts";
import { startServer, type Server } from "./harness/server.ts";
import { signUp } from "./harness/session.ts";

const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
];
/** As long as a call's own limits don't end the search early. */
const UNLIMITED = "1000000/60";

let server: Server;
let directory: string;
let program: string;
let agent: WireAgent;
let person: { token: string; orgId: string };
/** Ids of things that exist, by the name of the path parameter. */
let ids: Record<string, string>;
let authKey: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "attestore-schemathesis-"));
  const installed = spawnSync(fileURLToPath(new URL("../../tools/install-schemathesis", import.meta.url)), {
    encoding: "utf8",
  });
  if (installed.status !== 0) throw new Error(`tools/install-schemathesis: ${installed.stderr}`);
  program = installed.stdout.trim();
  server = await startServer({
    ATTESTORE_RATE_DEFAULT: UNLIMITED,
    ATTESTORE_RATE_ATTACH_FAILURES: UNLIMITED,
    ATTESTORE_RATE_BOOTSTRAP_START: UNLIMITED,
    ATTESTORE_RATE_SIGNUP_ADDRESS: UNLIMITED,
    ATTESTORE_RATE_SIGNUP_EMAIL: UNLIMITED,
    ATTESTORE_RATE_LOGIN_ADDRESS: UNLIMITED,
    ATTESTORE_RATE_LOGIN_EMAIL: UNLIMITED,
    ATTESTORE_RATE_VERIFY_EMAIL: UNLIMITED,
  });
  person = await signUp([server]);
  authKey = await createAuthKey(server, person.orgId);
  agent = await attach({ server, id: person.orgId, authKey });
  const orgID = person.orgId;
  const sourceID = await declareSource(agent);
  const { id: backupID } = await writeEncryptedDump(agent, sourceID);
  const newest = async (list: string): Promise<string> => {
    const listed = await api(server, {
      method: "GET",
      path: `/api/orgs/${orgID}/${list}`,
      token: person.token,
    });
    return listed.json<{ items: { id: string }[] }>().items[0]?.id ?? "";
  };
  const path = `/api/orgs/${orgID}/sources/${sourceID}/trigger`;
  await api(server, { method: "POST", path, token: person.token, json: { kind: "backup" } });
  ids = {
    orgID,
    sourceID,
    backupID,
    commandID: await newest("commands"),
    eventID: await newest("events"),
    logID: await newest("api-logs"),
  };
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await server.remove();
});

/** Calls with the token all that the options in `which` choose. */
function search(token: string, seconds: number, ...which: string[]): void {
  // With ids that Schemathesis makes up, nearly every answer would be 404.
  const parameters = Object.entries(ids).map(([name, id]) => `"path.${name}" = "${id}"`);
  // A call that waits for commands would wait longer than Schemathesis does.
  parameters.push('"query.wait_s" = "0"');
  const config = join(directory, "schemathesis.toml");
  writeFileSync(config, `[parameters]\n${parameters.join("\n")}\n`);
  const { status, stdout, stderr } = spawnSync(
    program,
    [
      "--config-file",
      config,
      "run",
      `${server.url}/api/openapi.json`,
      "--tls-verify",
      server.caFile,
      "--header",
      `Authorization: Bearer ${token}`,
      "--checks",
      CHECKS.join(),
      "--phases",
      "examples,coverage,fuzzing",
      "--max-time",
      String(seconds),
      "--max-examples",
      "20",
      "--suppress-health-check",
      "all",
      "--continue-on-failure",
      "--no-color",
      // Two threads that read sources at once trip over each other in Python 3.11 (its issue
      // 106905).
      "--workers",
      "1",
      ...which,
    ],
    { encoding: "utf8", cwd: directory, env: { ...process.env, HYPOTHESIS_STORAGE_DIRECTORY: directory } },
  );
  expect(status, `${stdout}\n${stderr}`).toBe(0);
}

test("schemathesis finds no undocumented answer when it calls the API as an agent", () => {
  search(agent.token, 20, "--include-path-regex", "^/v1/");
});

test("schemathesis finds no undocumented answer when it calls the API as a person", () => {
  // Signing out ends the search, and the stream of changes has no end.
  search(person.token, 45, "--include-path-regex", "^/api/(?!bootstrap/|auth/logout|orgs/[^/]*/live)");
});

test("schemathesis finds no undocumented answer when it calls the API with an auth key and without one", () => {
  search(authKey, 10, "--include-path-regex", "^/api/bootstrap/(attach|start)");
});
