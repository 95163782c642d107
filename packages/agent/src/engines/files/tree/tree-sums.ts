import { hash } from "node:crypto";
import { DigestSum } from "../../content/digest-sum.ts";
import type { Moment } from "../tar/attributes.ts";
import { comparableTime } from "../attributes/times.ts";
import type { TreeEntry } from "../tree-entry.ts";

/** What is compared of each path in a tree, each by a digest of its own. */
export type Aspect =
  /** Kind and path of files, directories and links. */
  | "names"
  /** The same of pipes and devices. */
  | "others"
  /** Where links point to. */
  | "targets"
  | "sizes"
  | "contents"
  | "modes"
  | "times"
  /** Times without the fraction of a second. */
  | "seconds"
  /** Times to the nearest second. */
  | "rounded"
  /** User and group, by number. */
  | "owners";

/** Hex digests of the aspects that any path has, and how many paths have it. */
export type TreeSummed = Readonly<Partial<Record<Aspect, { readonly count: number; readonly sum: string }>>>;

/**
 * Keyed digests over the paths of a tree that come in any order. Nothing of a path is kept, so a
 * tree may be of any size.
 */
export class TreeSums {
  readonly #key: Buffer;
  readonly #sums = new Map<Aspect, { count: number; readonly sum: DigestSum }>();

  /** `key`: one that only this tree has. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Everything about a path that a restored tree shows. A file has a SHA-256. */
  entry(entry: TreeEntry, sha256: string | null, modified: Moment): void {
    this.name(entry.kind, entry.path);
    // A further name of a file shares the attributes of the first.
    if (entry.kind !== "hardlink") this.modified(entry.path, modified);
    if ("target" in entry) return this.target(entry.path, entry.target);
    this.mode(entry.path, entry.mode);
    if (entry.kind !== "file") return;
    this.size(entry.path, entry.size);
    this.#add("contents", [entry.path, sha256 ?? ""]);
  }

  name(kind: TreeEntry["kind"], path: string): void {
    this.#add(kind === "fifo" || kind === "device" ? "others" : "names", [kind, path]);
  }

  target(path: string, target: string): void {
    this.#add("targets", [path, target]);
  }

  size(path: string, size: number): void {
    this.#add("sizes", [path, String(size)]);
  }

  mode(path: string, mode: number): void {
    this.#add("modes", [path, mode.toString(8)]);
  }

  modified(path: string, moment: Moment): void {
    const { exact, seconds } = comparableTime(moment);
    this.#add("times", [path, exact]);
    this.#add("seconds", [path, seconds]);
    this.#add("rounded", [path, comparableTime(moment + HALF).seconds]);
  }

  owner(path: string, user: bigint, group: bigint): void {
    this.#add("owners", [path, String(user), String(group)]);
  }

  /** `more`: of the same tree and under the same key, with other paths. */
  finish(more?: TreeSums): TreeSummed {
    const totals = new Map<Aspect, { count: number; readonly sum: DigestSum }>();
    for (const sums of more === undefined ? [this.#sums] : [this.#sums, more.#sums])
      for (const [aspect, { count, sum }] of sums) {
        const total = totals.get(aspect) ?? { count: 0, sum: new DigestSum() };
        total.count += count;
        total.sum.add(Buffer.from(sum.hex(), "hex"));
        totals.set(aspect, total);
      }
    return Object.fromEntries(
      [...totals].map(([aspect, { count, sum }]) => [aspect, { count, sum: sum.hex() }]),
    );
  }

  /** No path contains a NUL. Each aspect is a domain of its own, because it has its own sum. */
  #add(aspect: Aspect, fields: readonly string[]): void {
    const text = Buffer.from(fields.join("\0"), "latin1");
    const of = this.#sums.get(aspect) ?? { count: 0, sum: new DigestSum() };
    of.count += 1;
    of.sum.add(hash("sha256", Buffer.concat([this.#key, text]), "buffer"));
    this.#sums.set(aspect, of);
  }
}

const HALF = 500_000_000n;
