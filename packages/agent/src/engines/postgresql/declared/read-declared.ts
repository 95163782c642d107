import { writePiece } from "../../../processes/feed.ts";
import type { RunProgram } from "../../../processes/run-program.ts";
import { oneCutShort } from "../../one-cut-short.ts";
import { readWhilePassing } from "../content/read-while-passing.ts";
import { type DeclaredSchema, DeclaredSql } from "./declared-sql.ts";

/** A dump that passes, and then what it declares. */
export interface ReadDeclared {
  readonly content: AsyncIterable<Buffer>;
  /**
   * Call this after the restore. Null if the dump was not understood.
   * @throws RestoreRefused
   */
  end(): Promise<DeclaredSchema | null>;
  /** Callers must always call it. */
  close(): Promise<void>;
}

/** Leaves out who owns what, because a copy is owned by one role. */
export const WITHOUT_OWNERS = ["--schema-only", "--no-owner", "--no-privileges"];

/** Reads a dump in SQL as it comes; of an archive, what pg_restore prints of it. */
export async function readDeclared(
  content: AsyncIterable<Buffer>,
  {
    isPlain,
    run,
    signal,
  }: { readonly isPlain: boolean; readonly run: RunProgram; readonly signal: AbortSignal },
): Promise<ReadDeclared> {
  const sql = new DeclaredSql();
  if (isPlain)
    return {
      content: readWhilePassing(content, (piece) => Promise.resolve(sql.add(piece))),
      end: () => {
        if (sql.isCutShort) throw oneCutShort();
        return Promise.resolve(sql.end());
      },
      close: () => Promise.resolve(),
    };
  const child = await run("pg_restore", { args: [...WITHOUT_OWNERS, "--file=-"], signal }).catch(() => null);
  if (child === null) return { content, end: () => Promise.resolve(null), close: () => Promise.resolve() };
  const read = (async () => {
    for await (const piece of child.stdout) sql.add(piece as Buffer);
  })();
  read.catch(() => undefined);
  let isOpen = true;
  return {
    // It ends as soon as it has read the definitions, which come before the rows.
    content: readWhilePassing(content, async (piece) => {
      if (isOpen)
        isOpen = await writePiece(child.stdin, piece).then(
          () => true,
          () => false,
        );
    }),
    end: async () => {
      child.stdin.end();
      const isRead = await read.then(
        () => true,
        () => false,
      );
      return isRead && (await child.exited).code === 0 ? sql.end() : null;
    },
    close: async () => {
      await child.stop();
    },
  };
}
