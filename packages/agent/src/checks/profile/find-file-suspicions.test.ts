import type { FileKindProfile, FilesProfile } from "@attestore/proof";
import { expect, test } from "vitest";
import { findFileSuspicions, notesIn, type PastFiles } from "./find-file-suspicions.ts";

const PICTURES: FileKindProfile = { name: "pictures", files: 3000, mismatched: 0, entropy: 780, random: 0 };
const TEXTS: FileKindProfile = { name: "texts", files: 2000, mismatched: 0, entropy: 450, random: 0 };

const treeOf = (pictures: Partial<FileKindProfile> = {}, more: Partial<FilesProfile> = {}): FilesProfile => ({
  files: 5000,
  kinds: [{ ...PICTURES, ...pictures }, TEXTS],
  renamed: 0,
  notes: 0,
  ...more,
});
const past = (days: number, of: (day: number) => FilesProfile = () => treeOf()): PastFiles[] =>
  Array.from({ length: days }, (_, day) => ({
    madeAt: new Date(Date.parse("2026-03-01T03:00:00.000Z") + day * 86_400_000).toISOString(),
    files: of(day),
  }));

test.each([
  ["1 % of the pictures encrypted", { random: 10 }, "random", 0],
  ["1 % of the pictures zeroed", { mismatched: 10 }, "mismatched", 0],
  ["more than half of the pictures gone", { files: 1400 }, "files", 3000],
  ["pictures that are all alike", { entropy: 100 }, "entropy", 780],
] as const)("%s stand out", (_, kind, measure, before) => {
  expect(findFileSuspicions(treeOf(kind), past(10))).toEqual([
    { table: ".", column: "pictures", measure, now: kind[measure as keyof typeof kind], before },
  ]);
});

test("all files of a kind renamed stand out, although none is left to be counted", () => {
  const found = findFileSuspicions(treeOf({}, { kinds: [TEXTS], renamed: 596 }), past(10));
  expect(found).toEqual([
    { table: ".", column: "names", measure: "renamed", now: 596, before: 0 },
    { table: ".", column: "pictures", measure: "files", now: "under 50", before: 3000 },
  ]);
});

test("one ransom note is suspicious, even in the first test", () => {
  const note = [{ table: ".", column: "names", measure: "notes", now: 1, before: 0 }];
  expect(findFileSuspicions(treeOf({}, { notes: 1 }), past(10))).toEqual(note);
  expect(notesIn(treeOf({}, { notes: 1 }))).toEqual(note);
  expect(notesIn(treeOf())).toEqual([]);
  expect(
    findFileSuspicions(
      treeOf({}, { notes: 1 }),
      past(10, () => treeOf({}, { notes: 1 })),
    ),
  ).toEqual([]);
});

test("a tree that is as before is not suspicious, nor is a tree or kind without a history", () => {
  expect(
    findFileSuspicions(
      treeOf({ files: 2000, random: 2, mismatched: 1, entropy: 740 }, { renamed: 2 }),
      past(10),
    ),
  ).toEqual([]);
  expect(findFileSuspicions(treeOf({ random: 1000 }), [])).toEqual([]);
  expect(
    findFileSuspicions(
      treeOf({ name: "others", random: 1000 }, { kinds: [{ ...TEXTS, name: "others", random: 1000 }] }),
      past(10),
    ).filter(({ measure }) => measure !== "files"),
  ).toEqual([]);
});

test("however slowly files are encrypted, it is suspicious before 4 % of them are", () => {
  for (const perDay of [0.05, 0.2, 1, 3]) {
    const history: PastFiles[] = [];
    const noticed = past(900, (day) => treeOf({ random: Math.round(day * perDay) })).findIndex((each) => {
      if (findFileSuspicions(each.files, history.slice(-90)).length > 0) return true;
      history.push(each);
      return false;
    });
    expect(noticed).toBeGreaterThan(-1);
    expect(noticed * perDay).toBeLessThan(40);
  }
});
