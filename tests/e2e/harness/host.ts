import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MARKER } from "./database.ts";
import { filesUnder } from "./files.ts";
import type { Organisation } from "./organisation.ts";
import { processesUnder, type Process } from "./processes.ts";
import { run, start, type Environment, type Finished, type Running } from "./programs.ts";
import type { Statement } from "./statements.ts";

/** A customer's host with the real agent: an install root and a temporary directory of its own. */
export interface Host {
  base: string;
  root: string;
  env: Environment;
  /** Runs the agent with the root given by the environment. */
  run: (...args: string[]) => Promise<Finished>;
  start: (...args: string[]) => Running;
  addSources: (yaml: string) => void;
  /** All of them, or those of some files. */
  receipts: (among?: (file: string) => boolean) => StoredReceipt[];
  /** Files in the root or the temporary directory that hold what must only be there encrypted. */
  plaintext: () => string[];
  processes: () => Process[];
  remove: () => void;
}

/** A receipt file of the agent. */
export interface StoredReceipt {
  file: string;
  bundle: {
    envelope: { payload: string; signatures: { sig: string; keyid: string }[] };
    inclusion_proof?: unknown;
    checkpoint?: string;
  };
  statement: Statement;
}

export function newHost(env: Environment = {}): Host {
  const base = mkdtempSync(join(tmpdir(), "attestore-e2e-host-"));
  // Scratch servers run as somebody else, who has to get through.
  chmodSync(base, 0o755);
  const temporary = join(base, "tmp");
  mkdirSync(temporary);
  chmodSync(temporary, 0o1777);
  const root = join(base, "root");
  const all: Environment = { ATTESTORE_HOME: root, TMPDIR: temporary, HOME: base, ...env };
  return {
    base,
    root,
    env: all,
    run: (...args) => run("attestore", args, all, base),
    start: (...args) => start("attestore", args, all, base),
    addSources: (yaml) => {
      const config = join(root, "config.yaml");
      appendFileSync(config, /^sources:/m.test(readFileSync(config, "utf8")) ? yaml : `sources:\n${yaml}`);
    },
    receipts: (among = () => true) => receiptsUnder(join(root, "receipts"), among),
    plaintext: () => [root, temporary].flatMap(filesUnder).filter(holdsPlaintext),
    processes: () => processesUnder(base),
    remove: () => {
      for (const { pid } of processesUnder(base)) process.kill(pid, "SIGKILL");
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** A host whose agent is attached. */
export async function attachedHost(org: Organisation, env: Environment = {}): Promise<Host> {
  const host = newHost(env);
  const { code, stdout, stderr } = await run(
    "attestore",
    ["init", "--service", org.server.url, "--ca-file", org.server.caFile, "--name", "e2e-host"],
    { ...host.env, ATTESTORE_AUTH_KEY: org.authKey },
    host.base,
  );
  if (code !== 0) throw new Error(`attestore init: exit code ${code}\n${stdout}${stderr}`);
  return host;
}

/**
 * All of them at one moment: where the agent moves one between the listing and the reading, both
 * are done again.
 */
function receiptsUnder(directory: string, among: (file: string) => boolean): StoredReceipt[] {
  for (;;)
    try {
      return filesUnder(directory)
        .filter((file) => file.endsWith(".json") && !file.endsWith(".answer.json") && among(file))
        .toSorted()
        .map(readReceipt);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
}

function readReceipt(file: string): StoredReceipt {
  const bundle = JSON.parse(readFileSync(file, "utf8")) as StoredReceipt["bundle"];
  const payload = Buffer.from(bundle.envelope.payload, "base64").toString("utf8");
  return { file, bundle, statement: JSON.parse(payload) as Statement };
}

function holdsPlaintext(file: string): boolean {
  if (statSync(file).size === 0) return false;
  const bytes = readFileSync(file);
  return (
    bytes.includes(MARKER) ||
    bytes.subarray(0, 5).toString("latin1") === "PGDMP" ||
    bytes.subarray(0, 15).toString("latin1") === "SQLite format 3"
  );
}
