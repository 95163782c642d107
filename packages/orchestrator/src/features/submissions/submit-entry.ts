import type { CallRecords, EntryKind, LogEntry } from "../../log/sequencer/entry.ts";
import type { Sequencer } from "../../log/sequencer/sequencer.ts";
import { SubmissionRefused } from "../../log/sequencer/submission-refused.ts";
import type { WireAnswer } from "../../platform/http/route/answer.ts";
import type { SubmissionRecord } from "../../platform/http/route/route.ts";
import { inclusionAnswer } from "./inclusion-answer.ts";
import { logErrorAnswer } from "./log-error-answer.ts";
import { insertApiLogRows } from "../../platform/http/api-log/api-log-row.ts";
import { claimKeys, rememberPlaces } from "../../platform/http/idempotency.ts";

export type Submissions = Sequencer<SubmissionRecord, WireAnswer>;

/**
 * Submits the entry that `verify` makes of a call, and answers with its place in the log, 201. The
 * agent's cached record may be some seconds old. If its key was replaced meanwhile, `verify` is
 * called once more with `isStale`, and looks the key up. Throws ApiError: whatever `verify` and the
 * entry's kind refuse, `agent_revoked`, `idempotency_key_reused`, `idempotency_in_progress`; and
 * `unavailable` if too many wait or the database fails. Then the entry may or may not be in the
 * log: submitting it again finds out. Throws LogCorruption if its log may not continue.
 */
export async function submitEntry<Entry extends LogEntry>(
  {
    sequencer,
    kind,
    idField,
  }: {
    sequencer: Submissions;
    kind: EntryKind<Entry>;
    idField: "receipt_id" | "event_id";
  },
  record: SubmissionRecord,
  bodyBytes: number,
  verify: (isStale: boolean) => Promise<Entry>,
): Promise<WireAnswer> {
  try {
    const submit = async (isStale: boolean) => {
      const entry = await verify(isStale);
      await record.turn?.before;
      const submitted = sequencer.submit(kind, entry, record, bodyBytes);
      record.turn?.over();
      return submitted;
    };
    const submitted = await submit(false).catch((error: unknown) => {
      if (error instanceof SubmissionRefused && error.reason === "key_replaced") return submit(true);
      throw error;
    });
    if (submitted.is === "answered") return submitted.answer;
    return inclusionAnswer(idField, submitted.inclusion, submitted.replayed);
  } catch (error) {
    if (error instanceof SubmissionRefused) throw logErrorAnswer(error) ?? error;
    throw error;
  }
}

/**
 * The records of a call over HTTP besides its entry: the answer under its idempotency key, and its
 * row of the API log.
 */
export const callRecords: CallRecords<SubmissionRecord, WireAnswer> = {
  nameOf: ({ idempotency }) => idempotency?.scopeSha256.toString("base64") ?? null,

  async lookup(session, calls, now) {
    const keys = calls.flatMap(({ idempotency }) => idempotency ?? []);
    const earlier = await claimKeys(session, keys, now);
    return ({ idempotency }) => (idempotency === null ? null : earlier(idempotency));
  },

  insert(session, placed) {
    const places = placed.flatMap(({ call, logIndex, treeSize }) =>
      call.idempotency === null ? [] : [{ key: call.idempotency, logIndex, treeSize }],
    );
    // Those of one body share theirs.
    const rows = [...new Set(placed.map(({ call }) => call.apiLogRow(201)))];
    return [
      ...(places.length === 0 ? [] : [rememberPlaces(session, places)]),
      insertApiLogRows(session, rows),
    ];
  },
};
