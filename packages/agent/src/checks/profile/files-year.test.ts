import { createHash } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";
import { firstIdAt } from "@attestore/contract";
import type { Suspicion } from "@attestore/proof";
import { expect, test } from "vitest";
import { EarlierTests } from "../earlier-tests/earlier-tests.ts";
import type { AcceptedLoss, PassedTest } from "../passed-tests.ts";
import { FilesProfiler } from "./files-profiler.ts";
import { type LookedAt, lookAtFile } from "./look-at-file.ts";

/** A year of daily restore tests of five trees of files: how often would something stand out? */

const DAY_MS = 24 * 3600 * 1000;
const START = Date.parse("2026-01-01T03:00:00.000Z");
const DAYS = 365;
/** The day on which somebody encrypts files. */
const ATTACK = 100;

type Chance = () => number;

/** The same numbers in every run. */
function random(seed: number): Chance {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function bytesOf(seed: string, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 64) }, (_, at) =>
    createHash("sha512").update(`${seed} ${at}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
}

const behind = (start: string, seed: string): Buffer =>
  Buffer.concat([Buffer.from(start, "latin1"), bytesOf(seed, 9000)]);
const prose = (seed: string): string =>
  bytesOf(seed, 700).reduce(
    (text, byte) => `${text} ${["please", "leave", "the", "parcel", "7", "Monday"][byte % 6]}`,
    "",
  );

/** Each is looked at once; a tree has many of them. */
const FILES = Object.fromEntries(
  (
    [
      ["photo", "p.jpg", behind("\xff\xd8\xff\xe0", "photo")],
      ["screenshot", "s.png", behind("\x89PNG\r\n", "screenshot")],
      ["video", "v.mp4", behind("\0\0\0\x18ftypmp42", "video")],
      ["sidecar", "p.jpg.xmp", Buffer.from(`<x:xmpmeta>${prose("sidecar")}`)],
      ["letter", "l.docx", behind("PK\x03\x04", "letter")],
      ["sheet", "s.xlsx", behind("PK\x03\x04", "sheet")],
      ["protected", "p.xlsx", behind("\xd0\xcf\x11\xe0", "protected")],
      ["pdf", "i.pdf", behind("%PDF-1.7", "pdf")],
      ["owner", "~$l.docx", bytesOf("owner", 20)],
      ["old", "l.docx.bak", behind("PK\x03\x04", "old")],
      ["text", "n.txt", Buffer.from(prose("text"))],
      ["code", "index.js", Buffer.from(`export function run() {${prose("code")}}`)],
      ["bundle", "a.css.map", Buffer.from(`{"mappings":"AAAA;AACA,SAAS"${prose("bundle")}`)],
      ["log", "access.log", Buffer.from(`192.0.2.1 - - GET /${prose("log")}`)],
      ["rotated", "access.log.2", Buffer.from(`192.0.2.1 - - GET /${prose("log")}`)],
      ["packed", "access.log.9.gz", gzipSync(prose("packed"))],
      ["mail", "1700000000.M1P1.host:2,S", Buffer.from(`Received: from a\n\n${prose("mail")}`)],
      ["object", createHash("sha1").update("object").digest("hex"), deflateSync(prose("object"))],
      ["key", "id.key", Buffer.from(`-----BEGIN KEY-----\n${bytesOf("key", 600).toString("base64")}`)],
      ["vault", "chunk-0001", bytesOf("vault", 9000)],
      ["binary", "tool", Buffer.concat([Buffer.from("\x7fELF", "latin1"), Buffer.alloc(6000, 144)])],
      ["empty", "lock.pdf", Buffer.alloc(0)],
    ] as const
  ).map(([kind, name, bytes]) => [kind, lookAtFile(name, bytes)]),
);

interface Tree {
  readonly starts: Readonly<Record<string, number>>;
  /** How many files of each sort a day brings. */
  readonly grows: (day: number, chance: Chance) => Readonly<Record<string, number>>;
  /** What archiving, a migration or a deployment does. */
  readonly changes?: (files: LookedAt[], day: number) => LookedAt[];
}

const last = (files: readonly LookedAt[], sort: string, count: number): LookedAt[] => {
  const all = files.filter((each) => each === FILES[sort]);
  const others = files.filter((each) => each !== FILES[sort]);
  return [...others, ...all.slice(-count)];
};
const some = (count: number, chance: Chance): number => Math.round(2 * count * chance());

const TREES: Readonly<Record<string, Tree>> = {
  "a photo library": {
    starts: { photo: 900, video: 120, sidecar: 90, screenshot: 100 },
    // A holiday.
    grows: (day, chance) => ({
      photo: day === 190 ? 600 : some(2, chance),
      video: day === 190 ? 80 : 0,
      sidecar: day > 100 ? some(1, chance) : 0,
    }),
    // The pictures are converted.
    changes: (files, day) =>
      day === 250
        ? files.map((each) => (each === FILES["screenshot"] ? (FILES["photo"] as LookedAt) : each))
        : files,
  },
  "an office's shared folders": {
    starts: { letter: 500, sheet: 400, pdf: 600, protected: 20, owner: 4, old: 30, text: 200, empty: 3 },
    grows: (day, chance) => ({
      letter: some(3, chance),
      sheet: some(2, chance),
      pdf: day % 30 === 29 ? 60 : some(2, chance),
      protected: chance() < 0.1 ? 2 : 0,
      owner: chance() < 0.3 ? 1 : 0,
      old: chance() < 0.1 ? 1 : 0,
    }),
    // A third of what is old goes at the end of the year.
    changes: (files, day) =>
      last(day === 300 ? files.slice(Math.round(files.length / 3)) : files, "owner", 3 + (day % 5)),
  },
  "a website with its uploads": {
    starts: { code: 800, bundle: 60, photo: 400, pdf: 80, binary: 60 },
    grows: (_, chance) => ({ photo: some(3, chance), pdf: some(0.5, chance) }),
    // Each deployment brings other code.
    changes: (files, day) =>
      (day % 21 === 20 ? last(files, "code", 650 + ((day * 37) % 300)) : files).concat(
        day % 21 === 20 ? Array.from({ length: 120 }, () => FILES["code"] as LookedAt) : [],
      ),
  },
  "a server of mail with logs that rotate": {
    starts: { mail: 1500, log: 100, rotated: 150, packed: 200, key: 60, text: 80 },
    grows: (day, chance) => ({
      mail: some(day % 7 > 4 ? 5 : 20, chance),
      rotated: 10,
      packed: 12,
      key: day % 60 === 59 ? 2 : 0,
    }),
    changes: (files, day) => last(last(files, "packed", 200 + (day % 14) * 5), "rotated", 150),
  },
  "a developer's host with repositories of encrypted backups": {
    starts: { object: 1200, vault: 300, code: 600, text: 90, binary: 70 },
    grows: (day, chance) => ({
      object: some(20, chance),
      vault: some(6, chance),
      code: day === 120 ? 500 : some(2, chance),
    }),
    // Repositories are packed, and old backups go.
    changes: (files, day) => (day % 30 === 29 ? last(last(files, "vault", 330), "object", 1200) : files),
  },
};

interface Alarm extends Suspicion {
  readonly day: number;
}
/** Fewer files than `inferred:files` demands. */
const LOSS = { table: ".", column: "all", measure: "files", before: "floor" } as const;
const counted = (tree: readonly LookedAt[]): PassedTest["checks"] => [
  { id: "inferred:files", observed: { files: tree.length } },
];
type Damage = (files: LookedAt[], day: number) => LookedAt[];

/** All alarms of a year, where somebody accepts each false one. */
function alarmsOf({ starts, grows, changes }: Tree, damage?: Damage): Alarm[] {
  const chance = random(11);
  const files = (counts: Readonly<Record<string, number>>): LookedAt[] =>
    Object.entries(counts).flatMap(([sort, count]) =>
      Array.from({ length: count }, () => FILES[sort] as LookedAt),
    );
  let tree = files(starts);
  const alarms: Alarm[] = [];
  const accepted: AcceptedLoss[] = [];
  let tests: PassedTest[] = [];
  for (let day = 0; day < DAYS && (damage === undefined || day < ATTACK + 5); day += 1) {
    const now = START + day * DAY_MS;
    const at = new Date(now).toISOString();
    tree = [...tree, ...files(grows(day, chance))];
    tree = changes?.(tree, day) ?? tree;
    tree = damage?.(tree, day) ?? tree;
    const profiler = new FilesProfiler();
    for (const file of tree) profiler.add(file);
    const profile = profiler.end();
    if (profile === null) throw new Error("a tree with too few files");
    const seen = new EarlierTests({ source: "simulated", tests, accepted, now });
    const suspicious = seen.profiles.fileSuspicions(profile);
    alarms.push(...suspicious.map((each) => ({ ...each, day })));
    if (tree.length < seen.filesFloor()) alarms.push({ ...LOSS, now: tree.length, day });
    if (damage === undefined && alarms.at(-1)?.day === day) accepted.push({ table: ".", at, upTo: at });
    const signed = { v: 1 as const, tables: [], left_out: 0, suspicious, files: profile };
    tests = [
      { at, madeAt: at, backupId: firstIdAt("backup", now), checks: counted(tree), profile: signed },
      ...tests,
    ].slice(0, 90);
  }
  return alarms;
}

test.each(Object.entries(TREES))(
  "%s: at most one false alarm in a year, and it is of deleted files",
  (_, tree) => {
    const alarms = alarmsOf(tree);
    const told = alarms.filter(({ before }) => before !== LOSS.before);
    expect(told, JSON.stringify(told)).toEqual([]);
    expect(new Set(alarms.map(({ day }) => day)).size, JSON.stringify(alarms)).toBeLessThanOrEqual(1);
  },
);

test("a tenth of a steady tree's files deleted is noticed on that day, and by no profile", () => {
  const deleted: Damage = (files, day) => (day === ATTACK ? files.filter((_, at) => at % 10 > 0) : files);
  const [first] = alarmsOf(TREES["a photo library"] as Tree, deleted);
  expect(first).toMatchObject({ day: ATTACK, before: LOSS.before });
});

const encrypted = (share: number, name: (each: LookedAt) => string): Damage => {
  const looked = new Map<LookedAt, LookedAt>();
  const ciphertext = (each: LookedAt): LookedAt => {
    const found = looked.get(each) ?? lookAtFile(name(each), bytesOf("the attacker's", 9000));
    looked.set(each, found);
    return found;
  };
  return (files, day) =>
    day === ATTACK
      ? files.map((each, at) => (at % Math.round(1 / share) === 0 ? ciphertext(each) : each))
      : files;
};
const NAMES: Readonly<Record<string, string>> = {
  pictures: "a.jpg",
  documents: "a.pdf",
  texts: "a.txt",
  recordings: "a.mp4",
  archives: "a.gz",
  others: "a.dat",
};
const sameName = ({ kind }: LookedAt): string => NAMES[kind] ?? "a";

test.each(Object.entries(TREES))(
  "%s: a hundredth of the files encrypted stands out on that day, and until somebody accepts it",
  (_, tree) => {
    const days = new Set(
      alarmsOf(tree, encrypted(0.01, sameName))
        .filter(({ day }) => day >= ATTACK)
        .map(({ day }) => day),
    );
    expect([...days]).toEqual(Array.from({ length: 5 }, (_each, after) => ATTACK + after));
  },
);

test.each(Object.entries(TREES))("%s: all files renamed stand out on that day", (_, tree) => {
  const alarms = alarmsOf(
    tree,
    encrypted(1, (each) => `${sameName(each)}.x7f3a`),
  );
  expect(alarms.some(({ day, measure }) => day === ATTACK && measure === "files")).toBe(true);
});
