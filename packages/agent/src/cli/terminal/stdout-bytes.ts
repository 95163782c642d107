import { fstatSync, fsync, write as writeFile } from "node:fs";
import { promisify } from "node:util";
import { errorCode, isDiskFull } from "@attestore/host/errno";
import { RunError } from "../../errors/run-error.ts";
import { writePiece } from "../../processes/feed.ts";

const STDOUT = 1;
const writeTo = promisify(writeFile);

export interface StdoutBytes {
  /** Whether any byte may have been written. */
  readonly isBegun: boolean;
  /** Writes all of a piece. @throws RunError */
  write(piece: Buffer): Promise<void>;
  /** After the last piece: a file is written to its disk. @throws RunError */
  end(): Promise<void>;
}

/** Stdout for bytes that are not text. It is an error if they do not all get there. */
export function stdoutBytes(signal: AbortSignal): StdoutBytes {
  const kind = fstatSync(STDOUT);
  const isPipe = kind.isFIFO() || kind.isSocket();
  let isBegun = false;
  return {
    get isBegun() {
      return isBegun;
    },
    write: (piece) => {
      isBegun = true;
      return isPipe ? writeToPipe(piece, signal) : writeToFile(piece);
    },
    end: async () => {
      if (kind.isFile()) await promisify(fsync)(STDOUT).catch(fail);
    },
  };
}

/** A reader that neither reads nor ends must not keep an interrupted program. */
function writeToPipe(piece: Buffer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new RunError("interrupted", "interrupted"));
    signal.addEventListener("abort", stop, { once: true });
    writePiece(process.stdout, piece)
      .finally(() => signal.removeEventListener("abort", stop))
      .then((isRead) => {
        if (isRead) resolve();
        else
          reject(
            new RunError("output_unwritable", "whoever reads stdout stopped before the end of the dump"),
          );
      }, reject);
  });
}

/** Node's own stream for a file drops what one write on a full disk leaves. */
async function writeToFile(piece: Buffer): Promise<void> {
  for (let from = 0; from < piece.length;) {
    const { bytesWritten } = await writeTo(STDOUT, piece, from, piece.length - from, null).catch(fail);
    from += bytesWritten;
  }
}

function fail(error: unknown): never {
  if (isDiskFull(error))
    throw new RunError("disk_full", "no space left where stdout leads to: choose another place", {
      cause: error,
    });
  throw new RunError("output_unwritable", `stdout cannot be written (${errorCode(error) ?? "unknown"})`, {
    cause: error,
  });
}
