import type { Page } from "playwright-core";
import { api, ownAddress } from "../../tests/e2e/harness/https.ts";
import { ed25519 } from "../../tests/e2e/harness/keys.ts";
import { addPasskey } from "../../tests/e2e/harness/operator-passkey.ts";
import { attachBody } from "../../tests/e2e/harness/organisation.ts";
import type { Server } from "../../tests/e2e/harness/server.ts";
import { until } from "../../tests/e2e/harness/wait.ts";
import { mailedCodes } from "../../tests/e2e/dashboard/mailed-codes.ts";
import type { Shot } from "./shots.ts";

interface Demo {
  orgId: string;
  /** Of an owner. */
  token: string;
}

interface Listed {
  items: { id: string; name?: string; slug?: string; result?: string | null; kind?: string }[];
}

/** Signs in with the code that the service mails. */
async function sessionOf(server: Server, email: string, signup?: { org_name: string }): Promise<string> {
  const exchange = (path: string, json: object) =>
    api(server, { method: "POST", path, json, from: ownAddress() });
  await exchange(signup === undefined ? "/api/auth/login" : "/api/auth/signup", { email, ...signup });
  const code = await until(`a code is mailed to ${email}`, () => mailedCodes(server.talk(), email).at(-1));
  const path = signup === undefined ? "/api/auth/verify" : "/api/auth/signup/verify";
  return (await exchange(path, { email, code })).json<{ session_token: string }>().session_token;
}

/** Every page, with what it needs to show something. */
export async function pagesOf(server: Server, { orgId, token }: Demo): Promise<Shot[]> {
  const org = `/api/orgs/${orgId}`;
  const call = async <T>(method: string, path: string, json?: unknown): Promise<T> => {
    const answer = await api(server, { method, path, token, json, from: ownAddress() });
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`);
    return answer.json<T>();
  };
  const first = async (what: string, is: (item: Listed["items"][number]) => boolean): Promise<string> => {
    const { items } = await call<Listed>("GET", `${org}/${what}?limit=200`);
    const found = items.find(is);
    if (found === undefined) throw new Error(`there is none of these ${what}`);
    return found.id;
  };

  for (const [email, role, name] of [
    ["joris@harbour.example", "admin", "Joris de Wit"],
    ["kim@audit.example", "auditor", "Kim Sørensen"],
  ])
    await call("POST", `${org}/users`, { email, role, name });
  await call("POST", `${org}/notifications/channels`, {
    kind: "webhook",
    url: "https://hooks.example.org/attestore",
    name: "On-call",
  });
  await call("POST", `${org}/notifications/channels`, {
    kind: "email",
    email: "ada@harbour.example",
    weekly_evidence: true,
  });
  await call("POST", `${org}/auth-keys`, { name: "Antwerp, rack 7", max_uses: 3 });
  const link = await call<{ url: string }>("POST", `${org}/auditor-links`, {
    name: "SOC 2 audit 2026",
    from: "2026-01-01T00:00:00Z",
    to: "2027-01-01T00:00:00Z",
  });
  const waiting = await call<{ code: string }>(
    "POST",
    "/api/bootstrap/start",
    attachBody(ed25519(), "antwerp-db-3"),
  );
  const receipts = {
    passed: await first("receipts", ({ result }) => result === "passed"),
    failed: await first("receipts", ({ result }) => result === "failed"),
  };
  const agentId = await first("agents", ({ name }) => name === "e2e-host");
  await call("PATCH", `${org}/agents/${agentId}`, { name: "rotterdam-apps-1" });
  const of = (name: string, path: string, prepare?: (page: Page) => Promise<void>): Shot => ({
    name,
    path,
    token,
    ...(prepare === undefined ? {} : { prepare }),
  });
  const verify = async (page: Page): Promise<void> => {
    await page.getByRole("button", { name: "Verify here" }).click();
    await page.locator("[data-verdict]").waitFor();
  };
  const ledger = `/sources/${await first("sources", ({ slug }) => slug === "ledger")}`;
  const orders = `/sources/${await first("sources", ({ slug }) => slug === "orders-db")}`;
  const bundle = await call<{ public_key: string; log: { verifier_key: string } }>(
    "GET",
    `/api/receipts/${receipts.passed}/bundle`,
  );
  const verifyFile = async (page: Page): Promise<void> => {
    const buffer = Buffer.from(JSON.stringify(bundle));
    const file = { name: `${receipts.passed}.json`, mimeType: "application/json", buffer };
    await page.getByLabel("Choose files").setInputFiles([file]);
    await page.locator("[data-verdict]").waitFor();
  };
  const verifyWithKeys = async (page: Page): Promise<void> => {
    const files = { "agent.pub": bundle.public_key, "log.vkey": bundle.log.verifier_key };
    await page.getByLabel("Choose files").setInputFiles(
      Object.entries(files).map(([name, text]) => ({
        name,
        mimeType: "text/plain",
        buffer: Buffer.from(`${text}\n`),
      })),
    );
    await verifyFile(page);
  };
  await server.cliJson("operator", "add", "operator@service.example");
  const operator = await sessionOf(server, "operator@service.example");
  await addPasskey(server, operator);
  const newcomer = await sessionOf(server, "new@quay.example", { org_name: "Quay" });
  const empty = (name: string, path: string): Shot => ({ name: `empty-${name}`, path, token: newcomer });
  const sharedPath = new URL(link.url).pathname + new URL(link.url).hash;
  return [
    { name: "login", path: "/login", token: null },
    { name: "signup", path: "/signup", token: null },
    { name: "verify", path: "/verify", token: null },
    { name: "verify-file", path: "/verify", token: null, prepare: verifyFile },
    { name: "verify-keys", path: "/verify", token: null, prepare: verifyWithKeys },
    { name: "operator", path: "/", token: operator },
    { name: "operator-organisation", path: `/operator/${orgId}`, token: operator },
    { name: "shared", path: sharedPath, token: null },
    {
      name: "shared-open",
      path: sharedPath,
      token: null,
      prepare: async (page) => {
        await page.getByRole("button", { name: "Open" }).click();
        await page.getByRole("region", { name: "Auditor link" }).waitFor();
      },
    },
    {
      name: "impersonating",
      path: `/operator/${orgId}`,
      token: operator,
      prepare: async (page) => {
        await page.getByRole("button", { name: "Act as Ada Verhoeven" }).click();
        await page.getByLabel("Reason").fill("ticket 4711: nothing is proven");
        await page.getByRole("dialog").getByRole("button", { name: "Act as Ada Verhoeven" }).click();
        await page.getByRole("region", { name: "Impersonation" }).waitFor();
      },
    },
    ...["", "sources", "receipts", "backups", "events", "log", "agents", "notifications", "auth-keys"].map(
      (at) => empty(at === "" ? "home" : at, `/${at}`),
    ),
    of("home", "/"),
    of("sources", "/sources"),
    of("source", ledger),
    of("source-tests", `${ledger}?tab=tests`),
    of("source-drift", `${ledger}?tab=drift`, (page) =>
      page.getByRole("button", { name: "Show the difference" }).first().click(),
    ),
    of("source-settings", `${orders}?tab=settings`),
    of("source-schedule", `${orders}?tab=settings`, (page) =>
      page.getByRole("button", { name: "Change" }).first().click(),
    ),
    of("receipts", "/receipts"),
    of("receipt", `/receipts/${receipts.passed}`, verify),
    of("receipt-failed", `/receipts/${receipts.failed}`),
    of("backups", "/backups"),
    of("backup", `/backups/${await first("backups", () => true)}`),
    of("events", "/events"),
    of("event", `/events/${await first("events", ({ kind }) => kind === "agent_key_rotated")}`),
    of("log", "/log", (page) => page.getByRole("button", { name: "Check now" }).click()),
    of("evidence", "/evidence"),
    of("agents", "/agents"),
    of("agent", `/agents/${agentId}`),
    of("agents-revoked", "/agents", (page) => page.getByText("Revoked", { exact: true }).click()),
    of("attach", "/attach"),
    of("attach-key", "/attach", async (page) => {
      await page.getByRole("button", { name: "Make an auth key" }).click();
      await page.getByText("atk_").first().waitFor();
    }),
    of("attach-review", `/attach?code=${waiting.code}`),
    of("auth-keys", "/auth-keys"),
    of("commands", "/commands"),
    of("command", `/commands/${await first("commands", () => true)}`),
    of("api-logs", "/api-logs"),
    of("api-log", `/api-logs/${await first("api-logs", () => true)}`),
    of("members", "/members"),
    of("notifications", "/notifications"),
    of("notifications-add", "/notifications", (page) =>
      page.getByRole("button", { name: "Add a webhook" }).click(),
    ),
    of("auditor-links", "/auditor-links"),
    of("auditor-links-revoke", "/auditor-links", (page) =>
      page.getByRole("button", { name: "Revoke SOC 2 audit 2026" }).click(),
    ),
    of("settings", "/settings"),
    of("passkeys", "/passkeys"),
    of("failed", "/receipts", async (page) => {
      await page.route("**/api/orgs/*/receipts*", (route) => route.abort());
      await page.reload();
      await page.getByRole("alert").first().waitFor();
    }),
    of("not-found", "/receipts/none"),
  ];
}
