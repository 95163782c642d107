import { createHash, type Hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { SourceLimits } from "../../../config/source-limits.ts";
import { stopIfAborted } from "../../../errors/run-error.ts";
import { treeTooLarge } from "../../files/tree/too-large.ts";
import { type TreeSummed, TreeSums } from "../../files/tree/tree-sums.ts";
import type { MemberSink } from "./foreign-tar.ts";
import type { Member } from "./member.ts";
import { MAX_PATHS, PathSet } from "./path-set.ts";

/** What a restored tree has to hold, by its archive. */
export interface Archived {
  readonly summed: TreeSummed;
  /** Directories that are only part of other names: nobody knows their modes and times. */
  readonly impliedDirectories: readonly string[];
  /** Hard links with the name that has the content. */
  readonly links: readonly (readonly [path: string, target: string])[];
  readonly acls: number;
  readonly xattrs: number;
}

const MAX_IMPLIED = 50_000;
const MAX_LINKS = 20_000;
/** Of the paths of these, together. They are sent to the process that looks at the tree. */
const MAX_KEPT_BYTES = 16 << 20;
const TOO_LONG = "the paths of its hard links and of directories without an entry are too long together";
const ZEROS = Buffer.alloc(1 << 20);

/** Sums up an archive whose names come in any order. */
export class ArchivedTree implements MemberSink {
  readonly #sums: TreeSums;
  readonly #limits: SourceLimits;
  readonly #signal: AbortSignal;
  readonly #paths = new PathSet();
  readonly #implied = new Set(["."]);
  readonly #links = new Map<string, string>();
  #logicalBytes = 0;
  #keptBytes = 0;
  #acls = 0;
  #xattrs = 0;
  #why: string | null = null;
  #current: Member | null = null;
  #content: Hash | null = null;
  /** A sandbox must not make any. */
  hasDevice = false;

  constructor(key: Buffer, limits: SourceLimits, signal: AbortSignal) {
    this.#sums = new TreeSums(key);
    this.#limits = limits;
    this.#signal = signal;
  }

  /** Why the sums cannot be compared with a restored tree; null if they can. */
  get why(): string | null {
    return this.#why;
  }

  /** @throws RestoreRefused if the files are larger than the source's limit. */
  member(member: Member): void {
    const { entry } = member;
    if (entry.kind === "file") this.#logicalBytes += entry.size;
    if (this.#logicalBytes > this.#limits.logicalBytes) throw treeTooLarge(this.#limits.logicalBytes);
    this.hasDevice ||= entry.kind === "device";
    this.#current = member;
    this.#content = entry.kind === "file" ? createHash("sha256") : null;
    this.#acls += member.hasAcl ? 1 : 0;
    this.#xattrs += member.xattrs;
    this.#why ??= this.#place(member);
  }

  content(piece: Buffer): void {
    this.#content?.update(piece);
  }

  async hole(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; left -= ZEROS.length) {
      stopIfAborted(this.#signal);
      this.#content?.update(left < ZEROS.length ? ZEROS.subarray(0, left) : ZEROS);
      // A hole may be terabytes long, so let other work run in between.
      await nextTurn();
    }
  }

  memberEnd(): void {
    const member = this.#current;
    if (member === null) return;
    const { entry, modified, user, group } = member;
    if (entry.kind === "hardlink") {
      const target = this.#links.get(entry.path) ?? entry.target;
      this.#sums.entry({ ...entry, target }, null, modified);
    } else {
      this.#sums.entry(entry, this.#content?.digest("hex") ?? null, modified);
      this.#sums.owner(entry.path, user, group);
    }
    this.#current = this.#content = null;
  }

  finish(): Archived {
    for (const path of this.#implied) this.#sums.name("directory", path);
    return {
      summed: this.#sums.finish(),
      impliedDirectories: [...this.#implied],
      links: [...this.#links],
      acls: this.#acls,
      xattrs: this.#xattrs,
    };
  }

  /** Notes where a name is. Returns why the restored tree may rightly be another one. */
  #place({ entry }: Member): string | null {
    const { path, kind } = entry;
    if (this.#paths.size >= MAX_PATHS) return `it has more than ${MAX_PATHS} names`;
    if (!this.#paths.add(path, kind === "directory")) return "a name comes twice";
    if (kind === "directory") this.#implied.delete(path);
    else if (this.#implied.has(path)) return "a name is below something that is not a directory";
    for (let above = path; above !== ".";) {
      above = above.includes("/") ? above.slice(0, above.lastIndexOf("/")) : ".";
      const is = this.#paths.kindOf(above);
      if (is === "other") return "a name is below something that is not a directory";
      if (is === "directory" || this.#implied.has(above)) break;
      this.#keptBytes += above.length;
      if (this.#keptBytes > MAX_KEPT_BYTES) return TOO_LONG;
      this.#implied.add(above);
    }
    if (this.#implied.size > MAX_IMPLIED) return `more than ${MAX_IMPLIED} directories have no entry`;
    if (kind === "hardlink") {
      // A link to nothing that came before would be an error of tar's.
      const target = this.#links.get(entry.target) ?? entry.target;
      this.#keptBytes += path.length + target.length;
      if (this.#keptBytes > MAX_KEPT_BYTES) return TOO_LONG;
      this.#links.set(path, target);
      if (this.#links.size > MAX_LINKS) return `it has more than ${MAX_LINKS} hard links`;
    }
    return null;
  }
}
