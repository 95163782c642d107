import { expect, test } from "vitest";
import { endedWords, progressWords } from "./progress-words.ts";

const at = "2026-11-24T02:00:00.000Z";
const GIB = 1024 ** 3;

test.each([
  [
    { phase: "dump", bytes: 2 * GIB, total_bytes: 8 * GIB, phase_ms: 40_000 },
    "Dumping: 2.1 GB of 8.6 GB, 53.7 MB/s, 2 min left",
  ],
  [{ phase: "restore", bytes: GIB, phase_ms: 90_000 }, "Restoring: 1.1 GB, 11.9 MB/s, for 1 min 30 s"],
  [
    { phase: "download", bytes: GIB, total_bytes: GIB, phase_ms: 10_000 },
    "Downloading: 1.1 GB of 1.1 GB, 107 MB/s, for 10 s",
  ],
  [{ phase: "upload", bytes: 512, total_bytes: GIB, phase_ms: 20 }, "Uploading: 512 B of 1.1 GB"],
  [{ phase: "checks", bytes: 0, phase_ms: 61_000 }, "Running checks: for 1 min 1 s"],
  [{ phase: "checks", bytes: 0, checks: 7, phase_ms: 2_000 }, "Running checks: 7 checks so far, for 2 s"],
  [{ phase: "later_phase", bytes: 0, phase_ms: 0 }, "later_phase: for 0 s"],
])('progress %j reads "%s"', (progress, words) => {
  expect(progressWords({ ...progress, at })).toBe(words);
});

test.each([
  [{ phase: "download", bytes: 1.2e9, took_ms: 34_000 }, "Downloaded 1.2 GB in 34.0 s"],
  [{ phase: "checks", bytes: 0, checks: 1, took_ms: 800 }, "Ran 1 check in 800 ms"],
  [{ phase: "later_phase", bytes: 0, took_ms: 5 }, "later_phase in 5 ms"],
])('an ended phase %j reads "%s"', (phase, words) => expect(endedWords(phase)).toBe(words));
