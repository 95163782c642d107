import { keyKind } from "@attestore/proof";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { errorCode } from "@attestore/host/errno";
import { identityFrom, recipientOf } from "../../crypto/identity.ts";
import { readRecoveryState, writeRecoveryState } from "../../recovery/recovery-state.ts";
import { combineShares, ShareError } from "../../crypto/shamir.ts";
import { parseShare } from "../../crypto/share-text.ts";
import { readCiphertext } from "../../crypto/ciphertext.ts";
import { DamagedCiphertext } from "../../crypto/damaged.ts";
import { seal } from "../../crypto/seal.ts";
import { unseal } from "../../crypto/unseal.ts";
import { wrongKey } from "../../errors/wrong-key.ts";
import { UserError } from "../../errors/user-error.ts";
import { RunError } from "../../errors/run-error.ts";
import { askSecret } from "../terminal/ask-secret.ts";
import type { Call, ExitCode } from "../invocation/command.ts";
import type { OpenRoot } from "../invocation/open-root.ts";

/**
 * Shows that the caller still has the key. It encrypts a text as backups are encrypted now, and
 * decrypts it with the key typed from the paper. With `--file` it also decrypts a stored backup to
 * its end.
 */
export async function testRecoveryKit(call: Call, { layout, config }: OpenRoot): Promise<ExitCode> {
  const { terminal, flags } = call;
  const state = await readRecoveryState(layout);
  if (state === null)
    throw new UserError(
      "usage",
      "this root has no recovery kit: make one with `attestore keys recovery-kit`",
    );
  const identity = await readKit(call);
  const recipient = await recipientOf(identity);
  if (recipient !== state.recipient)
    return failed(call, `wrong key: it belongs to ${recipient}, the kit to ${state.recipient}`);
  const fault = await faultOf(call, identity, config.recipients);
  if (fault !== null) return failed(call, fault);
  const tested_at = new Date().toISOString();
  await writeRecoveryState(layout, { ...state, tested_at });
  if (flags.isOn("json")) terminal.data(JSON.stringify({ result: "passed", recipient, tested_at }));
  else
    terminal.data(
      `${terminal.onData.good("✓")} the recovery kit works: it decrypts backups made now${
        flags.text("file") === undefined ? "" : ", and this one too"
      }`,
    );
  return 0;
}

function failed({ terminal, flags }: Call, why: string): ExitCode {
  if (flags.isOn("json")) terminal.data(JSON.stringify({ result: "failed", reason: why }));
  terminal.say(`${terminal.onTalk.bad("✗")} ${why}`);
  return 1;
}

async function faultOf(call: Call, identity: string, recipients: readonly string[]): Promise<string | null> {
  const probe = Buffer.from("attestore recovery test");
  const file = call.flags.text("file");
  try {
    const opened: Buffer[] = [];
    for await (const piece of unseal(seal(one(probe), recipients), [identity]))
      opened.push(Buffer.from(piece));
    if (!Buffer.concat(opened).equals(probe)) return "what was encrypted did not come back";
    if (file === undefined) return null;
    for await (const _ of unseal(readCiphertext({ path: resolve(call.cwd, file) }), [identity]))
      call.signal.throwIfAborted();
    return null;
  } catch (error) {
    if (error instanceof RunError && error.code === "identity_missing")
      return "the key is right, but a backup is not encrypted to it: the backup is older than the kit, or config.yaml no longer names the key";
    if (error instanceof DamagedCiphertext) return error.message;
    throw error;
  }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}

/**
 * Reads the typed key: from a file, standard input, shares, or a person at a terminal.
 * @throws UserError
 */
async function readKit(call: Call): Promise<string> {
  const { flags, cwd, signal } = call;
  const shares = flags.text("share");
  if (shares !== undefined) {
    const texts = await Promise.all(shares.split(",").map((path) => readGiven(resolve(cwd, path.trim()))));
    return fromShares(texts);
  }
  const path = flags.text("identity");
  if (path !== undefined)
    return oneKey(path === "-" ? await readAll(process.stdin) : await readGiven(resolve(cwd, path)));
  const typed = await askSecret("The key of the recovery kit (AGE-SECRET-KEY-1…): ", signal);
  if (typed === null)
    throw new UserError(
      "usage",
      "there is no terminal to type the key on: give --identity FILE, or --share FILE,FILE,…",
    );
  return oneKey(typed);
}

function fromShares(texts: readonly string[]): string {
  try {
    return oneKey(Buffer.from(combineShares(texts.map(parseShare))).toString("latin1"));
  } catch (error) {
    if (error instanceof ShareError) throw new UserError("usage", error.message, { cause: error });
    if (error instanceof UserError)
      throw new UserError(
        "usage",
        "these shares do not make a key: there are too few, or they come from different kits",
        {
          cause: error,
        },
      );
    throw error;
  }
}

/** Half an identity is one that was mistyped: only another kind is worth naming. */
function wrongKindOf(text: string): string {
  return keyKind(text) === "identity" ? "" : wrongKey(text);
}

/** People type keys from paper with blanks and in either case. Messages quote nothing of them. */
function oneKey(text: string): string {
  const lines = text.split("\n").map((line) => line.replaceAll(/\s/g, "").toUpperCase());
  const key = lines.find((line) => line.startsWith("AGE-SECRET-KEY-1")) ?? "";
  if (identityFrom(key) !== null) return key;
  throw new UserError(
    "usage",
    `that is not a complete AGE-SECRET-KEY-1…: compare it letter by letter with the kit${wrongKindOf(text)}`,
  );
}

async function readGiven(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UserError("usage", `${path} can't be read (${errorCode(error) ?? "unknown error"})`, {
      cause: error,
    });
  }
}
