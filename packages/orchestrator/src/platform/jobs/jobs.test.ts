import { afterAll, beforeAll, expect, test } from "vitest";
import { RecordingLogger } from "../../../test/recording-logger.ts";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";
import type { JobContext } from "./job.ts";
import { readJobLag } from "./lag.ts";
import { runJobs, runOnce } from "./run-jobs.ts";

let database: TestDatabase;
let now = new Date("2026-03-01T12:00:00.000Z");
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const signal = new AbortController().signal;
const later = (seconds: number): Date => (now = new Date(now.getTime() + seconds * 1000));
const replica = () => ({ db: database.byClock, clock: () => now, signal });

function counted(name: string): { job: Parameters<typeof runOnce>[1]; runs: JobContext[] } {
  const runs: JobContext[] = [];
  return {
    runs,
    job: {
      name,
      every_s: 10,
      run: (context) => {
        runs.push(context);
        return Promise.resolve();
      },
    },
  };
}

test("of many replicas one runs a job, and again when it is due", async () => {
  const { job, runs } = counted("once");
  const look = () => Promise.all(Array.from({ length: 20 }, () => runOnce(replica(), job)));
  expect((await look()).filter(Boolean)).toHaveLength(1);
  expect((await look()).filter(Boolean)).toHaveLength(0);
  later(9);
  expect((await look()).filter(Boolean)).toHaveLength(0);
  later(1);
  expect((await look()).filter(Boolean)).toHaveLength(1);
  expect(runs).toHaveLength(2);
});

test("a run that never ended is followed by the next, and shows as lag", async () => {
  const { job } = counted("cut-off");
  await runOnce(replica(), job);
  later(10);
  await expect(
    runOnce(replica(), { ...job, run: () => Promise.reject(new Error("the database went away")) }),
  ).rejects.toThrow("went away");
  later(10);
  expect(await readJobLag(database.byClock, [job], now)).toEqual([{ name: "cut-off", lag_s: 10 }]);
  expect(await runOnce(replica(), job)).toBe(true);
  expect(await readJobLag(database.byClock, [job, { name: "never", every_s: 5 }], now)).toEqual([
    { name: "cut-off", lag_s: 0 },
    { name: "never", lag_s: null },
  ]);
});

test("a job knows since when somebody has been watching", async () => {
  const { job, runs } = counted("watching");
  const began = now;
  await runOnce(replica(), job);
  later(60);
  await runOnce(replica(), job);
  expect(runs.map(({ runningSince }) => runningSince)).toEqual([began, began]);
  const back = later(3600);
  await runOnce(replica(), job);
  expect(runs.at(-1)?.runningSince).toEqual(back);
});

test("a clock that was set back does not stop a job", async () => {
  const { job } = counted("set-back");
  await runOnce(replica(), job);
  later(-86_400);
  expect(await runOnce(replica(), job)).toBe(true);
});

test("no job begins while this machine's clock and the database's are apart", async () => {
  const { job, runs } = counted("clocks-apart");
  const once = (off_s: number) =>
    runOnce({ ...replica(), clock: () => new Date(Date.now() + off_s * 1000), clocksApart_s: 30 }, job);
  expect([await once(31_536_000), await once(-90), runs.length]).toEqual([false, false, 0]);
  expect(await once(0)).toBe(true);
});

test("a job's failure is logged once, and so is its recovery; jobs stop with the service", async () => {
  const logger = new RecordingLogger();
  logger.expected.add("a job failed; trying again");
  const stop = new AbortController();
  let runs = 0;
  const job = {
    name: "failing",
    every_s: 0.001,
    run: () => {
      runs += 1;
      if (runs === 4) stop.abort();
      return runs < 3 ? Promise.reject(new Error("not now")) : Promise.resolve();
    },
  };
  await runJobs({ db: database.byClock, jobs: [job], clock: () => new Date(), logger, signal: stop.signal });
  expect(logger.lines.map(({ message }) => message)).toEqual([
    "a job failed; trying again",
    "a job works again",
  ]);
});
