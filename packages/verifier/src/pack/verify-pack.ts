import { open } from "node:fs/promises";
import {
  type EvidenceSummary,
  type Manifest,
  type NoteVerifier,
  PACK_FILES,
  type PackPolicy,
  parsePolicy,
  type PublicKey,
} from "@attestore/proof";
import { CannotTell } from "../cannot-tell.ts";
import type { CheckedLine, Verdict } from "../outcome.ts";
import { ZipError } from "../zip/zip-error.ts";
import { ZipReader } from "../zip/zip-reader.ts";
import { checkAgents, readAgents } from "./check-agents.ts";
import { checkChains } from "./check-chains.ts";
import { checkEntries } from "./check-entries.ts";
import { checkLog } from "./check-log.ts";
import { checkRange } from "./check-range.ts";
import { checkRuns } from "./check-runs.ts";
import { checkSchedules } from "./check-schedules.ts";
import { checkSources } from "./check-sources.ts";
import { checkSummary } from "./check-summary.ts";
import { Findings } from "./findings.ts";
import { PackFiles } from "./pack-files.ts";

/** What whoever asks has from elsewhere. */
export interface PackEvidence {
  logKey: NoteVerifier | undefined;
  /** Of agents, from their hosts. */
  keys: readonly PublicKey[];
}

/** The answer about one pack. */
export interface PackOutcome {
  /** As it was named. */
  pack: string;
  verdict: Verdict;
  manifest: Manifest | null;
  /** As it was counted, not as the pack says; null where it could not be counted. */
  summary: EvidenceSummary | null;
  checks: CheckedLine[];
  /** Why nothing could be checked. */
  error: { code: string; message: string } | null;
}

const MAGIC = Buffer.from("PK\u0003\u0004");
const MAX_POLICY = 64 * 1024 * 1024;

/** Whether a file begins as a ZIP with a file in it does. False for what cannot be read: whoever opens it says why. */
export async function isPack(path: string): Promise<boolean> {
  if (path === "-") return false;
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
      return bytesRead === 4 && buffer.equals(MAGIC);
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}

/** Checks all of a pack, offline. Never throws over what is in it. */
export async function verifyPack(path: string, evidence: PackEvidence): Promise<PackOutcome> {
  const findings = new Findings();
  const outcome: PackOutcome = {
    pack: path,
    verdict: "cannot_tell",
    manifest: null,
    summary: null,
    checks: [],
    error: null,
  };
  let zip: ZipReader;
  try {
    zip = await ZipReader.open(path);
  } catch (error) {
    if (!(error instanceof ZipError))
      throw new CannotTell("file_unreadable", `${path} cannot be read: ${String(error)}`);
    findings.fail("zip", error.message);
    return { ...outcome, verdict: findings.verdict(), checks: findings.lines() };
  }
  try {
    findings.hold("zip", `${zip.paths().length} files`);
    const files = await PackFiles.open(zip, findings);
    const summary = files === null ? null : await checkAll(files, findings, evidence);
    return {
      ...outcome,
      verdict: findings.verdict(),
      manifest: files?.manifest ?? null,
      summary,
      checks: findings.lines(),
    };
  } finally {
    await zip.close();
  }
}

async function checkAll(
  files: PackFiles,
  findings: Findings,
  { logKey, keys }: PackEvidence,
): Promise<EvidenceSummary | null> {
  const agents = await readAgents(files, findings);
  const policy = await files.parsed("summary", PACK_FILES.policy, MAX_POLICY, parsePolicy);
  const log = await checkLog(files, findings, logKey, agents);
  const range = log === null ? null : await checkRange(files, findings, log);
  let summary: EvidenceSummary | null = null;
  if (log !== null && range !== null) {
    const entries = await checkEntries(files, findings, log, agents, range);
    const times = await checkAgents(findings, agents, entries, keys);
    checkChains(findings, entries.receipts, range.otherBodies, times);
    summary = policy === null ? null : await count(files, findings, { range, entries, policy });
  }
  await files.compareRest();
  return summary;
}

async function count(
  files: PackFiles,
  findings: Findings,
  {
    range,
    entries,
    policy,
  }: {
    range: NonNullable<Awaited<ReturnType<typeof checkRange>>>;
    entries: Awaited<ReturnType<typeof checkEntries>>;
    policy: PackPolicy;
  },
): Promise<EvidenceSummary> {
  if (policy.org.id !== files.manifest.org_id)
    findings.fail("summary", `the policy is of ${policy.org.id}, the pack of ${files.manifest.org_id}`);
  const runs = await checkRuns(files, findings, entries, policy, range.range.bodies_until);
  checkSources(findings, { policy, entries, runs, bodiesUntil: range.range.bodies_until });
  checkSchedules(findings, {
    manifest: files.manifest,
    endsWithExport: range.range.end === null,
    policy,
    entries,
    runs,
  });
  return checkSummary(files, findings, entries, policy, runs);
}
