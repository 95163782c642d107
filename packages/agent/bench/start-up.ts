/**
 * How long the shipped executables take to say something, against a bare `node -e 0` of the Node
 * that they are made of. Adjacent runs, in turn; a ratio of 2 means twice as long as bare Node.
 *
 *   node packages/agent/bench/start-up.ts [--rounds 21]
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { median } from "./median.ts";
import { buildShipped } from "./shipped.ts";
import { timed, type Timed } from "./timed.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "21" } } });
const directory = mkdtempSync(join(tmpdir(), "attestore-bench-"));
try {
  const { agent, verifier } = await buildShipped(directory);
  const env = { ATTESTORE_HOME: join(directory, "root"), HOME: directory };
  makeProven(agent, env);
  const commands: [string, string[]][] = [
    ["`node -e 0`", [process.execPath, "-e", "0"]],
    ["`attestore --version`", [agent, "--version"]],
    ["`attestore status`, one source, proven", [agent, "status"]],
    ["`attestore-verify --version`", [verifier, "--version"]],
  ];
  const runs = commands.map((): Timed[] => []);
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [n, [, command]] of commands.entries()) runs[n]?.push(timed(command, env));
  const of = (n: number, value: (run: Timed) => number): number => median((runs[n] ?? []).map(value));
  const lines = commands.map(([name], n) =>
    [
      name,
      (of(n, ({ seconds }) => seconds) * 1000).toFixed(0),
      (of(n, ({ seconds }) => seconds) / of(0, ({ seconds }) => seconds)).toFixed(1),
      (of(n, (run) => run.cpu_seconds) * 1000).toFixed(0),
      of(n, ({ rss_mib }) => rss_mib).toFixed(0),
    ].join(" | "),
  );
  process.stdout.write(
    `| | ms | of \`node -e 0\` | CPU ms | peak MiB |\n| --- | --- | --- | --- | --- |\n${lines.map((line) => `| ${line} |\n`).join("")}`,
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** A root with something to tell of. */
function makeProven(agent: string, env: Record<string, string>): void {
  const run = (...args: string[]): void =>
    void execFileSync(agent, args, { env: { PATH: process.env["PATH"], ...env }, stdio: "ignore" });
  const database = join(directory, "shop.db");
  execFileSync("sqlite3", [database, "create table orders (n); insert into orders values (1), (2)"]);
  run("init", "--standalone");
  const config = join(directory, "root/config.yaml");
  const source = `sources:
  shop:
    engine: sqlite
    path: ${database}
    checks:
      - { id: has-orders, query: "select count(*) as n from orders", expect: "n > 0" }
`;
  writeFileSync(config, `${readFileSync(config, "utf8").replace(/^sources:.*\n/m, "")}\n${source}`);
  run("backup", "--source", "shop");
  run("restore-test", "--source", "shop");
}
