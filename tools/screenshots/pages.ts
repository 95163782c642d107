import type { Page } from "playwright-core";
import { api, ownAddress } from "../../tests/e2e/harness/https.ts";
import { ed25519 } from "../../tests/e2e/harness/keys.ts";
import { attachBody } from "../../tests/e2e/harness/organisation.ts";
import type { Server } from "../../tests/e2e/harness/server.ts";
import type { Shot } from "./shots.ts";

interface Demo {
  orgId: string;
  /** Of an owner. */
  token: string;
}

interface Listed {
  items: { id: string; name?: string; slug?: string; result?: string | null; kind?: string }[];
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
  await server.cliJson("operator", "add", "operator@service.example");
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
  const verify = (page: Page): Promise<void> => page.getByRole("button", { name: "Verify here" }).click();
  return [
    { name: "login", path: "/login", token: null },
    { name: "signup", path: "/signup", token: null },
    { name: "verify", path: "/verify", token: null },
    { name: "shared", path: new URL(link.url).pathname + new URL(link.url).hash, token: null },
    of("home", "/"),
    of("sources", "/sources"),
    of("source", `/sources/${await first("sources", ({ slug }) => slug === "ledger")}`),
    of("receipts", "/receipts"),
    of("receipt", `/receipts/${receipts.passed}`, verify),
    of("receipt-failed", `/receipts/${receipts.failed}`),
    of("backups", "/backups"),
    of("backup", `/backups/${await first("backups", () => true)}`),
    of("events", "/events"),
    of("log", "/log"),
    of("evidence", "/evidence"),
    of("agents", "/agents"),
    of("agent", `/agents/${agentId}`),
    of("attach", "/attach"),
    of("attach-review", `/attach?code=${waiting.code}`),
    of("auth-keys", "/auth-keys"),
    of("commands", "/commands"),
    of("api-logs", "/api-logs"),
    of("members", "/members"),
    of("notifications", "/notifications"),
    of("auditor-links", "/auditor-links"),
    of("settings", "/settings"),
    of("not-found", "/receipts/none"),
  ];
}
