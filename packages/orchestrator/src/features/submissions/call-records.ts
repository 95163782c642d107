import type { CallRecords } from "../../log/entry.ts";
import type { WireAnswer } from "../../platform/http/answer.ts";
import { insertAuditRows } from "../../platform/http/audit-row.ts";
import { claimKeys, rememberPlaces } from "../../platform/http/idempotency-store.ts";
import type { SubmissionRecord } from "../../platform/http/route.ts";

/** What a call over HTTP leaves beside its entry: the answer under its idempotency key, and its row of the API log. */
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
    const rows = placed.map(({ call }) => call.auditRow(201));
    return [
      ...(places.length === 0 ? [] : [rememberPlaces(session, places)]),
      insertAuditRows(session, rows),
    ];
  },
};
