import { Type, type Static } from "typebox";
import { Count, Id, OrNull, SizeBytes, strict, Timestamp } from "./scalars.ts";
import { Retention } from "./sources.ts";

export const RetentionReason = Type.Object(
  {
    rule: Type.Union([
      Type.Literal("keep_last"),
      Type.Literal("keep_days"),
      Type.Literal("keep_daily"),
      Type.Literal("keep_weekly"),
      Type.Literal("keep_monthly"),
      Type.Literal("keep_yearly"),
      Type.Literal("no_rule"),
      Type.Literal("newest_proven"),
      Type.Literal("newest_clean"),
      Type.Literal("running_command"),
      Type.Literal("kept"),
    ]),
    /** The day, ISO week, month or year that it is kept for. */
    period: Type.Optional(Type.String()),
  },
  strict,
);
export type RetentionReason = Static<typeof RetentionReason>;

/**
 * Why retention of a source is paused until a person looks: far more backups in the last day than
 * usual, or newest backups less than half the size of one that would be removed.
 */
export const RetentionHold = Type.Union([
  Type.Object({ reason: Type.Literal("count_rose"), last_day: Count, usual_a_day: Count }, strict),
  Type.Object(
    { reason: Type.Literal("size_fell"), newest_bytes: SizeBytes, removed_bytes: SizeBytes },
    strict,
  ),
]);
export type RetentionHold = Static<typeof RetentionHold>;

/**
 * A backup as the retention rules see it: the reasons to keep it. Without a reason it is removed.
 */
export const RetentionDecision = Type.Object(
  {
    backup_id: Id("backup"),
    created_at: Timestamp,
    size_bytes: SizeBytes,
    proven_at: OrNull(Timestamp),
    keep: Type.Boolean(),
    reasons: Type.Array(RetentionReason),
    /** When it is removed, if announced. */
    expires_at: OrNull(Timestamp),
  },
  strict,
);
export type RetentionDecision = Static<typeof RetentionDecision>;

/**
 * 200 of `…/retention-preview`. The totals cover all available backups; the items are a page of
 * them, newest first.
 */
export const RetentionPreview = Type.Object(
  {
    retention: OrNull(Retention),
    timezone: Type.String(),
    keep_count: Count,
    remove_count: Count,
    remove_bytes: Count,
    /** While this is set, nothing is removed. */
    held: OrNull(Type.Object({ since: Timestamp, hold: RetentionHold }, strict)),
    items: Type.Array(RetentionDecision),
    next_cursor: OrNull(Type.String()),
  },
  strict,
);
export type RetentionPreview = Static<typeof RetentionPreview>;
