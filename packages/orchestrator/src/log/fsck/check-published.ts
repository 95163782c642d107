import { equalBytes, openCheckpoint, ProofError } from "@attestore/proof";
import { type LogIdentity, logVerifier, timeVerifier } from "../checkpoints/log-keys.ts";
import { originOfSize } from "../heads/origin-of-size.ts";
import type { PreparedQuery } from "../../platform/database/sql-session.ts";
import type { Check } from "./check.ts";

const PAGE = 500;

interface PublishedRow {
  hour: Date;
  emitted_at: Date;
  tree_size: number;
  root_hash: Buffer;
  checkpoint: string;
  /** Null without a log. */
  origin: string | null;
  /** Root of the recorded head of that size. */
  head_root_hash: Buffer | null;
}

const PUBLISHED: PreparedQuery = {
  name: "fsck_emissions",
  text: `select hour, emitted_at, log_emissions.tree_size, log_emissions.root_hash, checkpoint,
      log_heads.root_hash as head_root_hash, ${originOfSize("log_emissions.tree_size")} as origin
    from log_emissions left join log_heads using (org_id, tree_size) left join logs using (org_id)
    where org_id = $1 and hour > $2::timestamptz order by hour limit $3`,
};

/** Compares the hourly heads with the recorded heads, and checks their notes and signatures. */
export async function checkPublished(check: Check): Promise<void> {
  const { session, orgId, counts, report } = check;
  let size = 0;
  for (let after = new Date(0); ;) {
    const page = await session.run<PublishedRow & Record<string, unknown>>(PUBLISHED, [orgId, after, PAGE]);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.hour;
    counts.checkpoints += page.length;
    for (const row of page) {
      const what = `the hourly checkpoint of ${row.hour.toISOString()}`;
      if (row.head_root_hash === null || !equalBytes(row.head_root_hash, row.root_hash))
        report("checkpoint", `${what} is for a head that the log does not have`);
      if (row.tree_size < size) report("checkpoint", `${what} has fewer leaves than one before it`);
      size = Math.max(size, row.tree_size);
      const why = await whyNotSigned(check.identity, row);
      if (why !== null) report("checkpoint", `${what}: ${why}`);
    }
  }
}

/** Null if the checkpoint has this size and root, and both keys signed it. */
export async function whyNotSigned(
  identity: LogIdentity,
  row: Pick<PublishedRow, "checkpoint" | "origin" | "tree_size" | "root_hash" | "emitted_at">,
): Promise<string | null> {
  const time = timeVerifier(identity);
  try {
    if (row.origin === null) return "the organisation has no log";
    const log = logVerifier(identity, row.origin);
    const { size, rootHash, cosignatures } = await openCheckpoint(row.checkpoint, log, [time]);
    if (size !== BigInt(row.tree_size) || !equalBytes(rootHash, row.root_hash))
      return "its checkpoint differs from its row";
    const signedAt_s = cosignatures.find(({ verifier }) => verifier === time)?.timestamp_s;
    if (signedAt_s === undefined) return "it has no cosignature for its time";
    return signedAt_s === Math.floor(row.emitted_at.getTime() / 1000)
      ? null
      : "it is cosigned for another time";
  } catch (error) {
    if (error instanceof ProofError) return error.message;
    throw error;
  }
}
