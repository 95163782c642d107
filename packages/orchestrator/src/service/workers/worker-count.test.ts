import { expect, test } from "vitest";
import { workersOf } from "./worker-count.ts";

const GIB = 1024 ** 3;
const embedded = { workers: "auto", databaseUrl: undefined } as const;
const elsewhere = { workers: "auto", databaseUrl: "postgresql://db.example.org/attestore" } as const;

test.each([
  [embedded, 1, 4, 1],
  [embedded, 2, 4, 1],
  [embedded, 8, 16, 7],
  [elsewhere, 1, 4, 1],
  [elsewhere, 2, 4, 2],
  [elsewhere, 64, 64, 64],
  [elsewhere, 64, 4, 8],
  [elsewhere, 2, 0.25, 1],
  [{ ...elsewhere, workers: 3 }, 1, 0.25, 3],
] as const)("workers of %o on %i cores with %d GiB: %i", (settings, cores, gib, workers) => {
  expect(workersOf(settings, { cores, bytes: gib * GIB })).toBe(workers);
});
