/**
 * What an evidence pack costs: the service's time and memory while it streams one, and
 * attestore-verify's over it.
 *
 *   node packages/orchestrator/bench/evidence.ts [--receipts 1000,10000] [--tables 0] [--heap 16]
 *
 * Service, PostgreSQL and reader share the machine; the service runs in the reader's process, so
 * its memory counts the reader's too. Of each size the memory that the process has before the pack
 * is asked for stands beside the most that it had while it was read: what a pack adds is their
 * difference. With `--tables`, each receipt also has a profile of so many tables of ten columns.
 * The verifier runs twice: as it is, and in a heap of `--heap` MiB, where the garbage collector may
 * leave nothing. The most memory of a verifier that only says its version comes first. Prints a
 * table in Markdown.
 */
import { spawnSync } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { parsePublicKeyWire, type Profile, sshFingerprint } from "@attestore/proof";
import { newId } from "@attestore/contract";
import { type backupStatement, restoreTestStatement, signedEnvelope } from "../test/log/signed-receipt.ts";
import { makeHistory } from "../test/history.ts";
import { startTestService, type TestAgent, type TestService } from "../test/service.ts";
import { cpuSeconds } from "./cpu-time.ts";

const { values } = parseArgs({
  options: {
    receipts: { type: "string", default: "1000,10000" },
    tables: { type: "string", default: "0" },
    heap: { type: "string", default: "16" },
  },
});
const AT_ONCE = 32;
/** Nothing that is measured here. */
const NO_LIMIT = {
  limit: 1_000_000,
  window_s: 60,
  per: "credential",
  counts: "calls",
  kept: "reserved",
} as const;
const directory = mkdtempSync(join(tmpdir(), "attestore-evidence-bench-"));
const MIB = 1024 * 1024;
const column = (name: string) => ({ name, nulls: 12, distinct: 871, length: 24, entropy: 411, random: 0 });
const PROFILE: Profile = {
  v: 1,
  tables: Array.from({ length: Number(values.tables) }, (_, n) => ({
    name: `public.table_${n}`,
    rows: 123_456,
    columns: Array.from({ length: 10 }, (_, m) => column(`column_${m}`)),
  })),
  left_out: 0,
  suspicious: [],
};

const version = runVerifier(["--version"]);
process.stdout.write(`attestore-verify --version: ${version.peak_mib.toFixed(0)} MiB\n\n`);
process.stdout.write(
  "| receipts | pack MiB | first byte s | whole s | CPU s: service | PostgreSQL | memory before MiB | peak MiB | verified in s | CPU s | peak MiB | in a small heap: CPU s | peak MiB |\n" +
    `|${" --- |".repeat(13)}\n`,
);
for (const count of values.receipts.split(",").map(Number)) await measure(count);
rmSync(directory, { recursive: true });

async function measure(count: number): Promise<void> {
  const service = await startTestService({ rateLimits: { default: NO_LIMIT } });
  try {
    const org = await service.addOrg();
    const { agent, sourceId, backups } = await makeHistory(service, org);
    const [backup] = backups;
    if (backup === undefined) throw new Error("there is no backup");
    await submit(agent, { id: backup.id, sourceId, sha256: backup.sha256, sizeBytes: 64 }, count - 2);
    const owner = await service.signIn(org);
    const path = join(directory, `${count}.zip`);
    const taken = await take(service, owner.token, `/api/orgs/${org.id}/evidence`, path);
    const keyFile = join(directory, `${count}.pub`);
    writeFileSync(keyFile, `${agent.publicKeyWire}\n`);
    const args = [path, "--log-key", agent.log.verifier_key, "--key", keyFile];
    const verified = runVerifier(args);
    const inSmallHeap = runVerifier(args, [`--max-old-space-size=${values.heap}`]);
    const cells = [
      String(count),
      (statSync(path).size / MIB).toFixed(1),
      taken.first_s.toFixed(2),
      taken.whole_s.toFixed(1),
      taken.own_s.toFixed(1),
      taken.postgres_s.toFixed(1),
      (taken.before / MIB).toFixed(0),
      (taken.peak / MIB).toFixed(0),
      verified.whole_s.toFixed(1),
      verified.cpu_s.toFixed(1),
      verified.peak_mib.toFixed(0),
      inSmallHeap.cpu_s.toFixed(1),
      inSmallHeap.peak_mib.toFixed(0),
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  } finally {
    await service.close();
  }
}

async function submit(
  agent: TestAgent,
  backup: Parameters<typeof backupStatement>[1],
  count: number,
): Promise<void> {
  const publicKey = parsePublicKeyWire(agent.publicKeyWire);
  const signer = {
    id: agent.id,
    orgId: agent.orgId,
    publicKey: publicKey.bytes,
    keyFingerprint: sshFingerprint(publicKey),
    token: agent.token,
    privateKey: agent.privateKey,
  };
  for (let done = 0; done < count; done += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - done) }, async () => {
        const statement = restoreTestStatement(signer, backup, {
          agent_version: newId("request"),
          ...(PROFILE.tables.length === 0 ? {} : { profile: PROFILE }),
        });
        const call = {
          body: signedEnvelope(signer, statement),
          headers: { "content-type": "application/json" },
        };
        let answer = await agent.post("/v1/receipts", undefined, call);
        // On a machine that others use too the database is sometimes out of reach.
        for (let tries = 0; answer.status === 503 && tries < 20; tries += 1)
          answer = await agent.post("/v1/receipts", undefined, call);
        if (answer.status !== 201) throw new Error(answer.body.toString());
      }),
    );
}

async function take(
  { port, ca }: TestService,
  token: string,
  path: string,
  to: string,
): Promise<{
  first_s: number;
  whole_s: number;
  own_s: number;
  postgres_s: number;
  before: number;
  peak: number;
}> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  const cpu = cpuSeconds(process.pid);
  const begun = performance.now();
  const outgoing = request({
    host: "127.0.0.1",
    servername: "localhost",
    port,
    ca,
    path,
    headers: { authorization: `Bearer ${token}` },
  }).end();
  const [incoming] = (await once(outgoing, "response")) as [NodeJS.ReadableStream & { statusCode?: number }];
  if (incoming.statusCode !== 200) throw new Error(`the pack was answered with ${incoming.statusCode}`);
  const first_s = (performance.now() - begun) / 1000;
  await pipeline(incoming, createWriteStream(to));
  const whole_s = (performance.now() - begun) / 1000;
  clearInterval(sampling);
  const after = cpuSeconds(process.pid);
  return {
    first_s,
    whole_s,
    own_s: after.own - cpu.own,
    postgres_s: after.postgres - cpu.postgres,
    before,
    peak,
  };
}

/** As a process of its own. Its peak is what the kernel counted of it. */
function runVerifier(
  args: readonly string[],
  flags: readonly string[] = [],
): { whole_s: number; cpu_s: number; peak_mib: number } {
  const main = join(import.meta.dirname, "../../verifier/src/main.ts");
  const script = `const { run } = await import(${JSON.stringify(join(main, "../run.ts"))});
    const code = await run(process.argv.slice(1));
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    process.stderr.write(JSON.stringify({ code, cpu_s: (userCPUTime + systemCPUTime) / 1e6, peak_mib: maxRSS / 1024 }));`;
  const begun = performance.now();
  const { stderr, stdout } = spawnSync(
    process.execPath,
    [...flags, "--input-type=module", "-e", script, "--", ...args],
    { encoding: "utf8", maxBuffer: 64 * MIB },
  );
  const whole_s = (performance.now() - begun) / 1000;
  const { code, cpu_s, peak_mib } = JSON.parse(stderr) as { code: number; cpu_s: number; peak_mib: number };
  if (code !== 0) throw new Error(`the pack did not verify: ${stdout}`);
  return { whole_s, cpu_s, peak_mib };
}
