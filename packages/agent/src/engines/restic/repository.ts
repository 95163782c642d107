import type { Readable } from "node:stream";

/**
 * What a repository contains besides its `config`. Locks do not matter here: we take none and
 * respect none.
 */
export const LISTED = ["keys", "snapshots", "index"] as const;
export type ListedType = (typeof LISTED)[number];

/** `name` has 64 hexadecimal digits; for `config` it is empty. */
export interface RepositoryFile {
  readonly type: ListedType | "data" | "config";
  readonly name: string;
}

/** From byte `first` to `last`, both included; to the end if there is no `last`. */
export interface ByteRange {
  readonly first: number;
  readonly last: number | null;
}

export interface FilePiece {
  /**
   * The size of `content`. The content may be shorter if the file is cut in the meantime, but never
   * longer.
   */
  readonly length: number;
  readonly content: Readable;
}

/**
 * The files of a repository, only for reading. We use restic's names for them and do not look into
 * them. Anybody who can write to the repository decides what they contain, how many there are and
 * how long they are.
 */
export interface Repository {
  /** Where it is, for messages. Contains no secret. */
  readonly where: string;
  /** Whether it is on a network. If a transfer breaks there, it may succeed a moment later. */
  readonly isRemote: boolean;
  /** @throws UnreadableRepository */
  list(type: ListedType, signal: AbortSignal): Promise<readonly { name: string; size: number }[]>;
  /**
   * Null if it does not exist.
   * @throws UnreadableRepository, DamagedRepository
   */
  size(file: RepositoryFile, signal: AbortSignal): Promise<number | null>;
  /**
   * Null if it does not exist, or if it ends before the range begins.
   * @throws UnreadableRepository, DamagedRepository
   */
  read(file: RepositoryFile, range: ByteRange, signal: AbortSignal): Promise<FilePiece | null>;
  close(): Promise<void>;
}

/** The repository cannot be reached now. This says nothing about its content. */
export class UnreadableRepository extends Error {
  /** Whether the same request may succeed a moment later. */
  readonly mayPass: boolean;

  constructor(message: string, options: ErrorOptions & { mayPass?: boolean } = {}) {
    super(message, options);
    this.name = "UnreadableRepository";
    this.mayPass = options.mayPass === true;
  }
}

/** Restic would not have stored this. */
export class DamagedRepository extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DamagedRepository";
  }
}

export const FILE_NAME = /^[0-9a-f]{64}$/;

export function pathOf({ type, name }: RepositoryFile): string {
  return type === "config" ? "config" : `${type}/${name}`;
}

/** Enough for one index or snapshot per hour for twenty years. */
export const MOST_FILES = 200_000;

const MIB = 1 << 20;
/**
 * Far more than restic writes: its packs have 16 MiB, or 128 at most if configured; an index has a
 * few MiB.
 */
const MOST_BYTES = {
  config: MIB,
  keys: MIB,
  snapshots: 64 * MIB,
  index: 512 * MIB,
  data: 4096 * MIB,
} as const;

/**
 * Restic reads everything except packs into memory as a whole.
 * @throws DamagedRepository
 */
export function requireUsualSize(file: RepositoryFile, size: number): void {
  if (size > MOST_BYTES[file.type])
    throw new DamagedRepository(`${pathOf(file)} has ${size} bytes, more than restic ever writes into one`);
}
