import {
  firstGenerationKey,
  type EvidenceSummary,
  formatVerifierKey,
  type NoteVerifier,
  PACK_FILES,
  type PackHeader,
  type PackPolicy,
  parsePolicy,
  type ScheduledRun,
  plural,
} from "@attestore/proof";
import { type Basis, clockOf } from "../basis.ts";
import type { CheckedLine, Verdict } from "../outcome.ts";
import type { PinnedKey } from "../pinned-key.ts";
import { ZipError } from "../zip/zip-error.ts";
import { ZipReader } from "../zip/zip-reader.ts";
import type { ZipSource } from "../zip/zip-source.ts";
import type { Comparable } from "./overlaps/compare-overlaps.ts";
import type { CheckedGenerations } from "./log/check-generations.ts";
import { checkAgents } from "./agents/check-agents.ts";
import { readAgents } from "./agents/read-agents.ts";
import { checkEntries } from "./entries/check-entries.ts";
import { checkLog } from "./log/check-log.ts";
import { checkRange, type CheckedRange } from "./log/check-range.ts";
import { checkRuns } from "./runs/check-runs.ts";
import { checkSchedules } from "./runs/check-schedules.ts";
import { checkSummary } from "./check-summary.ts";
import { EntryChecks } from "./entry-checks.ts";
import { Findings } from "./findings.ts";
import { GivenKeys } from "./agents/given-keys.ts";
import { PackFiles } from "./files/pack-files.ts";
import { readPredecessors } from "./overlaps/read-predecessors.ts";

/** What the caller has from other sources. */
export interface PackEvidence {
  logKey: NoteVerifier | undefined;
  /**
   * Of agents, from their hosts or the organisation's owner. Without that of each that signed in it
   * no pack is true.
   */
  keys: readonly PinnedKey[];
  /** The one organisation of a list of keys, or null. */
  keysOfOrg?: string | null;
  witnessKeys?: readonly NoteVerifier[];
  /** How many witnesses must have cosigned the checkpoint; all by default. */
  requireWitnesses?: number | undefined;
  /** Sizes of the log at which its root is returned, to compare packs with each other. */
  sizes?: ReadonlySet<number>;
}

/** The answer about one pack. */
export interface PackOutcome {
  /** As it was named. */
  pack: string;
  verdict: Verdict;
  manifest: PackHeader | null;
  /** The recomputed summary, not the pack's; null if it could not be computed. */
  summary: EvidenceSummary | null;
  checks: CheckedLine[];
  /** What the verdict depends on; null if nothing could be checked. */
  basis: Basis | null;
  /** Roots of the log by size, from the pack's leaves and checkpoint; null if they give none. */
  roots: ReadonlyMap<number, string> | null;
  /**
   * What is compared with other packs, if several were given; null if not all of it could be read.
   */
  compared: Comparable | null;
  /** The log's generations; null if they could not all be checked. */
  generations: CheckedGenerations | null;
  /** Why nothing could be checked. */
  error: { code: string; message: string } | null;
}

const MAX_POLICY = 64 * 1024 * 1024;

/**
 * Verifies a whole pack offline, and closes its source. Never throws over its contents. `name` is
 * how the answer calls it.
 */
export async function verifyPack(
  name: string,
  source: ZipSource,
  evidence: PackEvidence,
): Promise<PackOutcome> {
  const findings = new Findings();
  const outcome: PackOutcome = {
    pack: name,
    verdict: "cannot_tell",
    manifest: null,
    summary: null,
    checks: [],
    basis: null,
    roots: null,
    compared: null,
    generations: null,
    error: null,
  };
  let zip: ZipReader;
  try {
    zip = await ZipReader.open(source);
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
    findings.fail("zip", error.message);
    return { ...outcome, verdict: findings.verdict(), checks: findings.lines() };
  }
  try {
    const besides = zip.passedOver > 0 ? `; ignored: ${plural(zip.passedOver, "file")} that macOS added` : "";
    findings.hold("zip", `${plural(zip.count, "file")}${besides}`);
    const files = await PackFiles.open(zip, findings);
    const {
      summary = null,
      basis = null,
      roots = null,
      compared = null,
      generations = null,
    } = files === null ? {} : await checkAll(files, findings, evidence);
    return {
      ...outcome,
      verdict: findings.verdict(),
      manifest: files?.manifest ?? null,
      summary,
      basis,
      roots,
      compared,
      generations,
      checks: findings.lines(),
    };
  } finally {
    await zip.close();
  }
}

type Checked = Pick<PackOutcome, "summary" | "basis" | "roots" | "compared" | "generations">;

async function checkAll(
  files: PackFiles,
  findings: Findings,
  {
    logKey,
    keys,
    keysOfOrg = null,
    witnessKeys = [],
    requireWitnesses = witnessKeys.length,
    sizes,
  }: PackEvidence,
): Promise<Checked> {
  const agents = await readAgents(files, findings);
  const isOfOrg = keysOfOrg === null || keysOfOrg === files.manifest.org_id;
  if (!isOfOrg)
    findings.leaveOpen(
      "agent_keys",
      `the list of keys belongs to ${keysOfOrg}, but the pack to ${files.manifest.org_id}`,
    );
  const givenKeys = new GivenKeys(agents, isOfOrg ? keys : []);
  const policy = await files.parsed("summary", PACK_FILES.policy, MAX_POLICY, parsePolicy);
  const log = await checkLog(files, findings, logKey, {
    agents,
    givenKeys,
    asked: { keys: witnessKeys, required: requireWitnesses },
  });
  const range = log === null ? null : await checkRange(files, findings, log, sizes);
  if (files.isOfLaterVersion) return leaveRest(files, findings, { basis: null, roots: null });
  let summary: EvidenceSummary | null = null;
  let basis: Basis | null = null;
  let compared: Comparable | null = null;
  if (log !== null && range !== null) {
    const checks = new EntryChecks(files, log, range, policy);
    for await (const body of readPredecessors(files, log, range.range)) checks.chains.addEarlier(body);
    const counts = await checkEntries(files, findings, log, agents, range, (entry) => checks.see(entry));
    checks.words.check(findings, counts.events, checks.idOf);
    checks.backups.check(findings);
    checks.repeated.check(findings);
    // agents.json may refer to an unknown event.
    if (files.isOfLaterVersion) return leaveRest(files, findings, { basis: null, roots: range.roots });
    const times = await checkAgents(files, findings, agents, checks.agentEvents(), givenKeys);
    const uses = checks.keyUses.all();
    const agentKeys = givenKeys.basis(uses);
    givenKeys.check(findings, agentKeys, {
      periodTo: files.manifest.period.to,
      isWitnessed: log.witnesses.length > 0,
    });
    basis = {
      agent_keys: agentKeys,
      log_key: {
        verifier_key: formatVerifierKey(firstGenerationKey(log.key)),
        from: logKey === undefined ? "claimed" : "given",
      },
      clock: clockOf(log.witnesses),
      witnesses: log.witnesses,
      witnesses_required: requireWitnesses,
      events: checks.words.basis(),
    };
    givenKeys.checkEvents(findings, uses);
    if (counts.hasUnread || files.isOfLaterVersion)
      return leaveRest(files, findings, { basis, roots: range.roots });
    await checks.content.finish(findings, checks.idOf);
    await checks.draws.finish(findings);
    checks.chains.checkKeys(findings, times);
    await checks.chains.check(findings, checks.bodies());
    const counted = policy === null ? null : await count(files, findings, { range, checks, policy });
    summary = counted?.summary ?? null;
    // Kept only where there is another pack to compare it with.
    const runs = counted?.runs ?? null;
    if (runs !== null && range.leaves !== null && policy !== null)
      compared = {
        bodiesUntil: range.range.bodies_until,
        leaves: range.leaves,
        otherLeaves: range.otherLeaves,
        runs,
        policy,
        agents: [...agents.values()],
        changes: checks.changes,
      };
  }
  await files.compareRest();
  return { summary, basis, roots: range?.roots ?? null, compared, generations: log?.generations ?? null };
}

/**
 * What follows from something that only a later version knows is not counted, and never held
 * against the pack.
 */
async function leaveRest(
  files: PackFiles,
  findings: Findings,
  found: Pick<PackOutcome, "basis" | "roots">,
): Promise<Checked> {
  for (const id of ["complete", "chains", "runs", "schedules", "summary", "page"] as const)
    findings.leaveOpen(id, "something in the pack has a version that this verifier does not know");
  await files.compareRest();
  return { summary: null, compared: null, generations: null, ...found };
}

async function count(
  files: PackFiles,
  findings: Findings,
  { range, checks, policy }: { range: CheckedRange; checks: EntryChecks; policy: PackPolicy },
): Promise<{ summary: EvidenceSummary; runs: ScheduledRun[] | null } | null> {
  const { counted } = checks;
  if (counted === null) return null;
  if (policy.org.id !== files.manifest.org_id)
    findings.fail(
      "summary",
      `the policy belongs to ${policy.org.id}, but the pack to ${files.manifest.org_id}`,
    );
  const kept: ScheduledRun[] | null = range.leaves === null ? null : [];
  const runs = await checkRuns(
    files,
    findings,
    {
      decisions: checks.decisions,
      removed: counted.sources.removed(),
      missed: () => checks.missedEvents(),
      event: (id) => checks.again.event(id),
      idOf: checks.idOf,
    },
    { policy, bodiesUntil: range.range.bodies_until },
    (run) => {
      checks.addRun(run);
      kept?.push(run);
    },
  );
  if (files.isOfLaterVersion) {
    await leaveRest(files, findings, { basis: null, roots: null });
    return null;
  }
  counted.sources.check(findings);
  await checkSchedules(findings, {
    manifest: files.manifest,
    endsWithExport: range.range.end === null && !range.hasLaterChange,
    policy,
    changes: checks.policyChanges,
    eventAt: (file) => checks.again.eventAt(file),
    runs,
  });
  const summary = counted.tally.finish();
  await checkSummary(files, findings, summary);
  return { summary, runs: kept };
}
