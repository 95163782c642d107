import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

/** All receipts in the database of a service that runs on the data directory. */
export async function storedReceipts(
  data: string,
): Promise<Map<string, { log_index: number; envelope: string }>> {
  const file = readFileSync(join(data, "postgres", "data", "postmaster.pid"), "utf8").split("\n");
  const client = new pg.Client({ host: file[4] ?? "", user: "attestore", database: "postgres" });
  await client.connect();
  const { rows } = await client.query<{ id: string; log_index: string; envelope: string }>(
    "select id, log_index, encode(sha256(envelope), 'hex') as envelope from receipts",
  );
  await client.end();
  return new Map(rows.map(({ id, log_index, envelope }) => [id, { log_index: Number(log_index), envelope }]));
}
