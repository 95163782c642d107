/**
 * Pictures of every page of the dashboard, wide and narrow, light and dark, of the real service
 * with a history that looks like one:
 *
 *   npm run screenshots                  # into ./screenshots
 *   npm run screenshots -- DIRECTORY [NAME…]
 */
import pg from "pg";
import { silentLogger } from "../../packages/orchestrator/src/platform/logging/logger.ts";
import { openDatabase } from "../../packages/orchestrator/src/platform/postgres/open-database.ts";
import { buildDashboard } from "../../tests/e2e/dashboard/build-dashboard.ts";
import { startBrowser } from "../../tests/e2e/harness/browser.ts";
import { createAuthKey } from "../../tests/e2e/harness/organisation.ts";
import { startServer } from "../../tests/e2e/harness/server.ts";
import { demoHistory } from "./demo-history.ts";
import { pagesOf } from "./pages.ts";
import { realAgent } from "./real-agent.ts";
import { shoot } from "./shots.ts";

const [directory = "screenshots", ...names] = process.argv.slice(2);
const say = (text: string): void => void process.stderr.write(`${text}\n`);

await buildDashboard();
// One organisation signs up after the operator is made.
const server = await startServer({ ATTESTORE_SIGNUP: "open" });
const browser = await startBrowser();
try {
  const { id: orgId } = await server.cliJson<{ id: string }>("org", "add", "Harbour Logistics");
  const opened = await openDatabase({ dataDirectory: server.data, role: "command", log: silentLogger });
  const client = new pg.Client(opened.connection);
  await client.connect();
  const { sessionToken } = await demoHistory(client, orgId);
  await client.end();
  await opened.close();
  say("the history is made; now the real agent runs");
  const host = await realAgent({ server, id: orgId, authKey: await createAuthKey(server, orgId) });
  const running = host.start("run");
  try {
    const shots = await pagesOf(server, { orgId, token: sessionToken });
    for (const shot of shots.filter(({ name }) => names.length === 0 || names.includes(name))) {
      say(shot.name);
      await shoot(browser, server, directory, shot);
    }
  } finally {
    running.child.kill("SIGTERM");
    await running.finished;
    host.remove();
  }
} finally {
  await browser.close();
  await server.remove();
}
