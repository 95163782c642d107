import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database/schema.ts";
import type { Sealer } from "../http/sealer.ts";
import type { Mail } from "./mail.ts";

export const MAIL_PURPOSE = "mail";

/**
 * Queues a mail in the same transaction as the event it reports: it is sent if, and only if, that
 * commits. It may arrive twice, after a crash between sending and forgetting it. After `expiresAt`
 * it is given up. Without a recipient it costs the same work and is sent to nobody.
 */
export async function queueMail(
  tx: DatabaseTransaction,
  sealer: Sealer,
  mail: Omit<Mail, "to"> & { to: string | null },
  expiresAt: Date,
): Promise<void> {
  const attachments = (mail.attachments ?? []).map((attachment) => ({
    ...attachment,
    content: attachment.content.toString("base64"),
  }));
  const sealed = await sealer.seal(Buffer.from(JSON.stringify({ ...mail, attachments })), MAIL_PURPOSE);
  await tx.insertInto("mail_outbox").values({ sealed, expires_at: expiresAt }).execute();
}

export interface QueuedMail {
  id: number;
  /** Null for one without a recipient. Rejects if it was sealed with another key. */
  open(): Promise<Mail | null>;
  /** The number of this attempt. */
  attempts: number;
  expired: boolean;
}

/**
 * Takes mails that are due, for `lease_s`: of several replicas, one gets each mail. If that replica
 * dies, the mail is due again after that time.
 */
export async function takeDueMail(
  db: Database,
  sealer: Sealer,
  { count, lease_s }: { count: number; lease_s: number },
): Promise<QueuedMail[]> {
  const { rows } = await sql<{ id: number; sealed: Buffer; attempts: number; expired: boolean }>`
    update mail_outbox set attempts = attempts + 1, next_attempt_at = now() + make_interval(secs => ${lease_s}::int)
    where id in (
      select id from mail_outbox where next_attempt_at <= now()
      order by next_attempt_at limit ${count}::int for update skip locked)
    returning id, sealed, attempts, expires_at <= now() as expired`.execute(db);
  return rows
    .map(({ sealed, ...row }) => ({ ...row, open: () => openMail(sealer, sealed) }))
    .sort((a, b) => a.id - b.id);
}

export async function forgetMail(db: Database, id: number): Promise<void> {
  await db.deleteFrom("mail_outbox").where("id", "=", id).execute();
}

export async function postponeMail(db: Database, id: number, by_s: number): Promise<void> {
  await db
    .updateTable("mail_outbox")
    .set({ next_attempt_at: sql<Date>`now() + make_interval(secs => ${by_s}::int)` })
    .where("id", "=", id)
    .execute();
}

/** Waiting mails, oldest first. */
export async function listQueuedMail(db: Database, sealer: Sealer): Promise<Mail[]> {
  const rows = await db.selectFrom("mail_outbox").select("sealed").orderBy("id").execute();
  const mails = await Promise.all(rows.map(({ sealed }) => openMail(sealer, sealed)));
  return mails.filter((mail) => mail !== null);
}

interface Sealed {
  to: string | null;
  subject: string;
  text: string;
  attachments: { filename: string; contentType: string; content: string }[];
}

async function openMail(sealer: Sealer, sealed: Buffer): Promise<Mail | null> {
  // The service sealed it, so it has the right form.
  const opened = await sealer.open(sealed, MAIL_PURPOSE);
  const { to, attachments, ...mail } = JSON.parse(opened.toString()) as Sealed;
  if (to === null) return null;
  const files = attachments.map((one) => ({ ...one, content: Buffer.from(one.content, "base64") }));
  return { to, ...mail, ...(files.length === 0 ? {} : { attachments: files }) };
}
