/**
 * The dashboard as people use it: the real orchestrator process with a fresh build, and Debian's
 * Chromium.
 *
 *   let dashboard: Dashboard;
 *   beforeAll(async () => { dashboard = await openDashboard(); });
 *   afterAll(() => dashboard.close());
 *
 *   const org = await dashboard.addOrg();                       // signed up over HTTPS; org.owner is signed in
 *   const auditor = await dashboard.addPerson(org, "auditor");
 *   const page = await dashboard.open(org.owner, "/receipts");  // without what other tests left; null: signed out
 *   await page.getByRole("heading", { name: "Receipts", level: 1 }).waitFor();
 *   await expectAccessible(page);
 *   await screenshotsOf(page, "receipts");
 *
 * The other harness files take `org` too: `attachedHost(org)` is a host with the real agent,
 * `attach(org)` an agent that only makes the calls.
 */
import type { Browser, Page } from "playwright-core";
import { startBrowser } from "../harness/browser.ts";
import { api, ownAddress } from "../harness/https.ts";
import { createAuthKey, type Organisation } from "../harness/organisation.ts";
import { addPasskey } from "../harness/operator-passkey.ts";
import type { Environment } from "../harness/programs.ts";
import { startServer, type Server } from "../harness/server.ts";
import { until } from "../harness/wait.ts";
import { buildDashboard } from "./build-dashboard.ts";
import { listenForComplaints } from "./complaints.ts";
import { mailedCodes } from "./mailed-codes.ts";
import { ReusedPages } from "./reused-pages.ts";

export { expectAccessible } from "./accessibility.ts";
export { screenshotsOf } from "./screenshots.ts";

export type Role = "owner" | "admin" | "auditor" | "operator";

/** A signed-in user. */
export interface Person {
  id: string;
  email: string;
  role: Role;
  /** The session token, which the browser has as a cookie. */
  token: string;
}

export interface DashboardOrg extends Organisation {
  name: string;
  owner: Person;
}

export interface Dashboard {
  server: Server;
  browser: Browser;
  addOrg(name?: string): Promise<DashboardOrg>;
  /**
   * Invites a user and signs them in; with `null`, makes an operator of the service with a passkey.
   */
  addPerson(org: DashboardOrg | null, role: Role): Promise<Person>;
  /** Signs a user in again, in a new session. */
  signIn(email: string): Promise<string>;
  /** The newest one-time code that was mailed to an address. */
  codeFor(email: string): Promise<string>;
  open(person: Person | null, path?: string): Promise<Page>;
  close(): Promise<void>;
}

interface SessionStarted {
  session_token: string;
  user: { id: string };
  org: { id: string; name: string } | null;
}

let people = 0;
let orgs = 0;

export async function openDashboard(settings: Environment = {}): Promise<Dashboard> {
  await buildDashboard();
  const server = await startServer({ ATTESTORE_SIGNUP: "open", ...settings });
  const browser = await startBrowser().catch(async (error: unknown) => {
    await server.remove();
    throw error;
  });

  const exchange = async (path: string, json: object, token?: string): Promise<SessionStarted> => {
    const answer = await api(server, { method: "POST", path, json, token, from: ownAddress() });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.body.toString()}`);
    return answer.json<SessionStarted>();
  };
  const codeAfter = (email: string, earlier: number): Promise<string> =>
    until(`a code is mailed to ${email}`, () => mailedCodes(server.talk(), email).slice(earlier).at(-1));
  const verified = async (email: string, kind: "signup" | "login", more: object): Promise<SessionStarted> => {
    const earlier = mailedCodes(server.talk(), email).length;
    await exchange(`/api/auth/${kind}`, { email, ...more });
    const code = await codeAfter(email, earlier);
    return exchange(kind === "signup" ? "/api/auth/signup/verify" : "/api/auth/verify", { email, code });
  };

  const pages = new ReusedPages(browser, server.url);
  const dashboard: Dashboard = {
    server,
    browser,
    codeFor: (email) => codeAfter(email, 0),
    signIn: async (email) => (await verified(email, "login", {})).session_token,
    addOrg: async (name = `Organisation ${++orgs}`) => {
      const email = `owner-${++people}@example.org`;
      const { session_token: token, user, org } = await verified(email, "signup", { org_name: name });
      if (org === null) throw new Error("a signup made no organisation");
      return {
        server,
        id: org.id,
        name,
        authKey: await createAuthKey(server, org.id),
        owner: { id: user.id, email, role: "owner", token },
      };
    },
    addPerson: async (org, role) => {
      const email = `${role}-${++people}@example.org`;
      if ((org === null) !== (role === "operator")) throw new Error(`${role} of ${org?.name ?? "nothing"}`);
      if (org === null) await server.cliJson("operator", "add", email);
      else await exchange(`/api/orgs/${org.id}/users`, { email, role }, org.owner.token);
      const { session_token: token, user } = await verified(email, "login", {});
      if (org === null) await addPasskey(server, token);
      return { id: user.id, email, role, token };
    },
    open: async (person, path = "/") => {
      const page = await pages.take();
      if (person !== null) await page.context().addCookies([sessionCookie(server, person.token)]);
      listenForComplaints(page);
      await page.goto(server.url + path);
      return page;
    },
    close: async () => {
      await browser.close();
      await server.remove();
    },
  };
  return dashboard;
}

function sessionCookie(server: Server, value: string) {
  const name = "__Host-attestore_session";
  return { name, value, url: server.url, httpOnly: true, secure: true, sameSite: "Strict" as const };
}
