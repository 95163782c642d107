/**
 * For tests: a process of its own that queues what is due, as a replica of the service does.
 * Arguments: the database's connection and the time, in JSON.
 */
import { queueDue } from "../src/features/schedules/queue-due.ts";
import type { ConnectionSettings } from "../src/platform/database/connection-settings.ts";
import { connectDatabase } from "../src/platform/database/database.ts";
import { silentLogger } from "../src/platform/logging/logger.ts";

const { connection, now } = JSON.parse(process.argv[2] ?? "") as {
  connection: ConnectionSettings;
  now: string;
};
const access = connectDatabase({ connection, log: silentLogger, way: "jobs" });
const { signal } = new AbortController();
await queueDue(
  { db: access.database, scheduleGrace_s: 7200, scheduleJitter_s: 0 },
  { now: new Date(now), signal },
);
await access.close();
