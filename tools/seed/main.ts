/**
 * `npm run seed`: an organisation with two weeks of history in the service of `npm run dev`,
 * through its API, with receipts that real keys signed: passed, failed, missed and changed. Run it
 * as often as you like; each run makes another organisation.
 */
import { randomInt } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { api } from "../../tests/e2e/harness/https.ts";
import { attach } from "../../tests/e2e/harness/organisation.ts";
import { until } from "../../tests/e2e/harness/wait.ts";
import { HOSTS, SOURCES } from "../screenshots/believable.ts";
import { realAgent } from "../screenshots/real-agent.ts";
import { datedHistory, type Past } from "./dated-history.ts";
import { runningServer } from "./running-server.ts";

const ROOT = join(import.meta.dirname, "../..");
const DAYS = 14;

/** What went wrong with some of the first eight sources. */
const PASTS: Readonly<Record<string, Omit<Past, "days">>> = {
  "customers-db": { failed: [0] },
  "warehouse-db": { failed: [9, 4] },
  "billing-db": { changed: 3 },
  wiki: { until: 1 },
};

const data = resolve(process.env["ATTESTORE_DATA"] ?? join(ROOT, "data/dev"));
const url = process.env["ATTESTORE_PUBLIC_URL"] ?? "https://localhost:8443";
const say = (line: string): void => void process.stdout.write(`${line}\n`);

if (!existsSync(join(data, "tls/ca.pem"))) {
  process.stderr.write(`There is no service in ${data}. Start it in another terminal: npm run dev\n`);
  process.exit(1);
}
const server = runningServer(data, url);
try {
  await seed();
} catch (error) {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ECONNREFUSED") throw error;
  process.stderr.write(`No service answers at ${url}. Start it in another terminal: npm run dev\n`);
  process.exitCode = 1;
} finally {
  server.connections.destroy();
}

async function seed(): Promise<void> {
  const email = `ada-${randomInt(1000, 10_000)}@harbour.example`;
  const session = await signUp(email);
  const { org, session_token: token } = session;
  const call = async <T>(method: string, path: string, json?: unknown): Promise<T> => {
    const answer = await api(server, { method, path: `/api/orgs/${org.id}${path}`, token, json });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.body.toString()}`);
    return answer.json<T>();
  };
  say(`${org.name}: ${email} has signed up`);
  const authKey = (await call<{ auth_key: string }>("POST", "/auth-keys", { name: "seed", max_uses: 10 }))
    .auth_key;
  const organisation = { server, id: org.id, authKey };

  const agents = await Promise.all(HOSTS.map((name) => attach(organisation, { name })));
  const sources = SOURCES.slice(0, 8);
  for (const [n, source] of sources.entries()) {
    const agent = agents[n % agents.length];
    if (agent === undefined) throw new Error("there are no hosts");
    const [name] = source;
    const id = await datedHistory(agent, source, { days: DAYS, ...PASTS[name] });
    // The host of this source was switched off: its next run is due in a minute and will be missed.
    const next = new Date(Date.now() + 60_000);
    const soon = `${next.getUTCMinutes()} ${next.getUTCHours()} * * *`;
    await call("POST", `/sources/${id}/configure`, {
      schedule: { backup_cron: PASTS[name]?.until === undefined ? "0 2 * * *" : soon, timezone: "UTC" },
    });
    say(`${name}: ${DAYS} days`);
  }
  const host = await realAgent(organisation);
  say(
    "ledger, contracts: backed up and restored by a real agent; one of them lost rows and changed its schema",
  );
  say(`\nSign in at ${url} as ${email}. npm run dev prints the code.`);
  say("In about three minutes the backup of wiki counts as missed, if npm run dev is still running.");
  say(`The real agent: ATTESTORE_HOME=${host.root} npx attestore status`);
}

interface Session {
  session_token: string;
  org: { id: string; name: string };
}

/**
 * Signs up as a person does. Without a mail server the service writes the mail with the code to a
 * file.
 */
async function signUp(email: string): Promise<Session> {
  const org_name = "Harbour Logistics";
  const begun = await api(server, { method: "POST", path: "/api/auth/signup", json: { email, org_name } });
  if (begun.status >= 300) throw new Error(`signup: ${begun.body.toString()}`);
  const code = await until(`a code is mailed to ${email}`, () => mailedCode(email));
  const json = { email, code };
  const answer = await api(server, { method: "POST", path: "/api/auth/signup/verify", json });
  if (answer.status >= 300) throw new Error(`signup: ${answer.body.toString()}`);
  return answer.json<Session>();
}

function mailedCode(email: string): string | undefined {
  const directory = join(data, "mail");
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const mails = names.map((name) => readFileSync(join(directory, name), "utf8"));
  const mail = mails.find((text) => text.includes(email));
  return /\b([A-Z0-9]{4}-[A-Z0-9]{4})\b/.exec(mail ?? "")?.[1];
}
