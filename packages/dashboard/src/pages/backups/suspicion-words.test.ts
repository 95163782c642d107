import { expect, test } from "vitest";
import { suspicionWords } from "./suspicion-words.ts";

const [before, at, after] = [
  "2026-11-20T00:00:00.000Z",
  "2026-11-21T00:00:00.000Z",
  "2026-11-22T00:00:00.000Z",
];

test.each([
  [{ proven_at: null }, []],
  [{ proven_at: at }, []],
  [{ proven_at: at, suspicious_at: at }, ["suspicious"]],
  [{ proven_at: at, suspicious_at: after }, ["suspicious"]],
  [{ proven_at: null, suspicious_at: at }, ["suspicious"]],
  [{ proven_at: at, suspicious_at: before }, []],
  [{ proven_at: at, last_clean: true as const }, ["last clean"]],
] as const)("%j is said to be %j", (backup, words) => {
  expect(suspicionWords(backup)).toEqual(words);
});
