import type { Readable } from "node:stream";

/**
 * What a repository has besides its `config`. Locks are no concern of ours: we take none, and heed
 * none.
 */
export const LISTED = ["keys", "snapshots", "index"] as const;
export type ListedType = (typeof LISTED)[number];

/** `name`: 64 hexadecimal digits, of `config` the empty text. */
export interface RepositoryFile {
  readonly type: ListedType | "data" | "config";
  readonly name: string;
}

/** From the byte `first` to `last`, both included; to the end without `last`. */
export interface ByteRange {
  readonly first: number;
  readonly last: number | null;
}

export interface FilePiece {
  /** Of `content`; it may turn out shorter if the file is cut meanwhile, never longer. */
  readonly length: number;
  readonly content: Readable;
}

/**
 * The files of a repository, for reading alone: opaque to us, and as restic names them. Whoever can
 * write to the repository chooses what they hold, how many there are and how long they are.
 */
export interface Repository {
  /** Says where it is, in messages; without a secret. */
  readonly where: string;
  /** Over a network: what breaks there in the middle may succeed a moment later. */
  readonly isRemote: boolean;
  /** @throws UnreadableRepository */
  list(type: ListedType, signal: AbortSignal): Promise<readonly { name: string; size: number }[]>;
  /** Null where it is not there. @throws UnreadableRepository, DamagedRepository */
  size(file: RepositoryFile, signal: AbortSignal): Promise<number | null>;
  /**
   * Null where it is not there, or ends before the range begins. @throws UnreadableRepository,
   * DamagedRepository
   */
  read(file: RepositoryFile, range: ByteRange, signal: AbortSignal): Promise<FilePiece | null>;
  close(): Promise<void>;
}

/** The way to it does not lead there now: that says nothing of what it holds. */
export class UnreadableRepository extends Error {
  /** Whether it may succeed if it is asked for again a moment later. */
  readonly mayPass: boolean;

  constructor(message: string, options: ErrorOptions & { mayPass?: boolean } = {}) {
    super(message, options);
    this.name = "UnreadableRepository";
    this.mayPass = options.mayPass === true;
  }
}

/** What lies there is nothing that restic would have put there. */
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

/** An index or a snapshot for every hour of twenty years. */
export const MOST_FILES = 200_000;

const MIB = 1 << 20;
/**
 * Far more than restic writes: its packs have 16 MiB, 128 at most if it is told so; an index some
 * MiB.
 */
const MOST_BYTES = {
  config: MIB,
  keys: MIB,
  snapshots: 64 * MIB,
  index: 512 * MIB,
  data: 4096 * MIB,
} as const;

/** Restic takes all but packs into its memory as a whole. @throws DamagedRepository */
export function requireUsualSize(file: RepositoryFile, size: number): void {
  if (size > MOST_BYTES[file.type])
    throw new DamagedRepository(`${pathOf(file)} has ${size} bytes, more than restic ever writes into one`);
}
