/** Starts a scratch PostgreSQL and waits to be killed. Says where it is in one line of JSON. */
import { execFileSync } from "node:child_process";
import { startScratchPostgres } from "../../src/engines/postgresql/sandbox/scratch-postgres.ts";

const [bin = "", scratchDir = ""] = process.argv.slice(2);
const server = await startScratchPostgres(bin, scratchDir, new AbortController().signal);
const show = (setting: string): string =>
  execFileSync(`${bin}/psql`, ["-XAtc", `show ${setting}`], {
    env: { ...server.environment },
    encoding: "utf8",
  }).trim();
process.stdout.write(
  `${JSON.stringify({ data: show("data_directory"), sockets: server.environment["PGHOST"] })}\n`,
);
setInterval(() => undefined, 1_000);
