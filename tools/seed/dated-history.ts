import { createHash } from "node:crypto";
import { declareSource, writeEncryptedDump, SOURCE_METADATA } from "../../tests/e2e/harness/backups.ts";
import type { WireAgent } from "../../tests/e2e/harness/organisation.ts";
import {
  accepted,
  backupStatement,
  restoreTestStatement,
  type Statement,
} from "../../tests/e2e/harness/statements.ts";

/** One of tools/screenshots/believable.ts. */
export type DatedSource = readonly [name: string, engine: string, gib: number, minutes: number];

export interface Past {
  days: number;
  /** Days ago on which its restore test failed. */
  failed?: readonly number[];
  /** Its schema is another since that many days ago. */
  changed?: number;
  /** Its newest backup was made that many days ago. */
  until?: number;
}

const DAY_MS = 86_400_000;

/**
 * A backup and a restore test for each day of the past, uploaded, registered and signed with the
 * agent's own key. That is how a host's comes that was cut off for a while: the receipts say when
 * things happened, and the log says when it heard of them.
 */
export async function datedHistory(agent: WireAgent, source: DatedSource, past: Past): Promise<string> {
  const [name, engine, gib, minutes] = source;
  const sourceId = await declareSource(agent, name, engine);
  for (let ago = past.days - 1; ago >= (past.until ?? 0); ago -= 1) {
    const madeAt = Date.now() - ago * DAY_MS - 3_600_000;
    const testedAt = madeAt + 1_800_000;
    const hasChanged = past.changed !== undefined && ago < past.changed;
    // A thousandth of a millionth of what it would be: a day's change and growth can be seen, and
    // the disk stays free.
    const bytes = Buffer.alloc(Math.round(1000 + gib * 1000 * (1 - 0.003 * ago)), `${name} ${ago}`);
    const backup = await writeEncryptedDump(agent, sourceId, bytes, {
      created_at: new Date(madeAt).toISOString(),
      source_metadata: {
        ...SOURCE_METADATA,
        engine,
        schema_hash: createHash("sha256").update(`${name} ${hasChanged}`).digest("hex"),
      },
    });
    await accepted(agent, dated(backupStatement(agent, backup), madeAt, 60_000));
    const test = restoreTestStatement(
      agent,
      backup,
      past.failed?.includes(ago) === true ? "failed" : "passed",
    );
    const restore_ms = Math.round(minutes * 60_000 * (0.9 + 0.2 * Math.sin(ago)));
    Object.assign(test.predicate, {
      runtime: { kind: "process", engine, engine_version: "15.14" },
      phases: { download_ms: 9000, decrypt_ms: 4000, restore_ms, checks_ms: 800 },
    });
    await accepted(agent, dated(test, testedAt, restore_ms));
  }
  return sourceId;
}

function dated(statement: Statement, finishedAt: number, took_ms: number): Statement {
  Object.assign(statement.predicate, {
    started_at: new Date(finishedAt - took_ms).toISOString(),
    finished_at: new Date(finishedAt).toISOString(),
  });
  return statement;
}
