import type { Message } from "./message.ts";

/** The body of a webhook; the same bytes in every attempt. */
export function webhookBody({ type, occurredAt, data }: Message): string {
  return JSON.stringify({ type, timestamp: occurredAt.toISOString(), data });
}
