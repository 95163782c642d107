import { join, resolve } from "node:path";
import { formatBytes } from "@attestore/proof";
import { readIdentities } from "../../crypto/age-identity.ts";
import { UserError } from "../../errors/user-error.ts";
import { DamagedCiphertext } from "../../crypto/damaged.ts";
import { restoreToFile } from "../../runs/restore-to-file.ts";
import { restoreToStream } from "../../runs/restore-to-stream.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import type { Call, ExitCode, Run } from "../invocation/command.ts";
import { chosenSource, openBackend, openRoot } from "../invocation/open-root.ts";
import { keepOutput, outputFile, type OutputFile, STDOUT } from "../invocation/output-file.ts";
import { downloadInto, ReadAgain } from "./read-again.ts";
import { stdoutBytes } from "../terminal/stdout-bytes.ts";
import { useRestoredFile } from "./use-restored-file.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

export const restore: Run = async (call) => {
  if (call.flags.text("into") !== undefined) return (await import("./restore-into.ts")).restoreInto(call);
  // A ciphertext at hand and an identity are enough: this works on a host that was never attached.
  const file = call.flags.text("file");
  return file === undefined ? restoreStored(call) : restoreLocal(call, resolve(call.cwd, file));
};

async function restoreLocal(call: Call, file: string): Promise<ExitCode> {
  const identity = call.flags.text("identity");
  const identityFiles =
    identity === undefined ? openRoot(call).config.identityFiles : [resolve(call.cwd, identity)];
  return writeOut(call, call.flags.text("output"), { path: file, identityFiles });
}

async function restoreStored(call: Call): Promise<ExitCode> {
  const { terminal, signal } = call;
  const root = await openBackend(call);
  const { backend, config, layout, flags } = root;
  const output = flags.text("output");
  requireOutput(call, output);
  const identity = flags.text("identity");
  const identityFiles = identity === undefined ? config.identityFiles : [resolve(call.cwd, identity)];
  const source = chosenSource(root);
  const line = terminal.progress();
  try {
    using _ = await takeWorkLock(layout, "restore", {
      signal,
      wait: flags.isOn("wait", true),
      say: terminal.say,
    });
    const backup = await backend.find(config, source, {
      backupId: flags.text("backup"),
      signal,
    });
    const scratch = await makeScratchDirectory(layout.scratch, null);
    try {
      const path = join(scratch.path, "ciphertext.age");
      const download = downloadInto(path, backup, line, signal);
      await download();
      const { sha256, id, sourceMetadata } = backup;
      return await writeOut(call, output, {
        path,
        downloadAgain: download,
        sha256,
        identityFiles,
        id,
        dumpFormat: sourceMetadata.dump_format,
      });
    } finally {
      await scratch.remove();
    }
  } finally {
    line.clear();
    backend.close();
  }
}

interface Ciphertext {
  readonly path: string;
  /** Absent for a file that somebody gave. */
  readonly downloadAgain?: () => Promise<void>;
  readonly sha256?: string | undefined;
  readonly id?: string | undefined;
  readonly dumpFormat?: string;
  readonly identityFiles: readonly string[];
}

async function writeOut(
  call: Call,
  outputFlag: string | undefined,
  ciphertext: Ciphertext,
): Promise<ExitCode> {
  const { path, sha256, id, identityFiles, dumpFormat, downloadAgain } = ciphertext;
  const { terminal, signal, flags } = call;
  const output = requireOutput(call, outputFlag);
  if (output === STDOUT) return writeToStdout(call, ciphertext);
  const line = terminal.progress();
  const again = new ReadAgain(terminal, line, downloadAgain);
  const identities = await readIdentities(identityFiles);
  try {
    const { sizeBytes } = await again.reading.orAgain(() =>
      restoreToFile({
        ciphertext: { path },
        ...(sha256 === undefined ? {} : { sha256 }),
        identities,
        output: output.path,
        signal,
        onProgress: ({ phase, bytes, totalBytes }) => line.update(phase, bytes, totalBytes),
      }),
    );
    await keepOutput(call);
    line.clear();
    again.sayIfSecondWasRight();
    if (flags.isOn("json")) {
      terminal.data(JSON.stringify({ backup_id: id ?? null, output: output.name, size_bytes: sizeBytes }));
    } else {
      terminal.data(
        `${terminal.onData.good("✓")} ${output.name}  ${formatBytes(sizeBytes)}, ${howChecked(sha256)}`,
      );
      const next = useRestoredFile(dumpFormat, output.name);
      if (next !== null) terminal.note(next);
    }
    return 0;
  } catch (error) {
    if (!(error instanceof DamagedCiphertext)) throw error;
    line.clear();
    if (flags.isOn("json"))
      terminal.data(JSON.stringify({ error: error.code, message: error.message, backup_id: id ?? null }));
    again.sayDamaged(error, ", so nothing was written");
    return 1;
  } finally {
    line.clear();
  }
}

async function writeToStdout(
  { terminal, signal }: Call,
  { path, sha256, identityFiles, downloadAgain }: Ciphertext,
): Promise<ExitCode> {
  const line = terminal.progress();
  const stdout = stdoutBytes(signal);
  const again = new ReadAgain(terminal, line, downloadAgain);
  const identities = await readIdentities(identityFiles);
  try {
    const { sizeBytes } = await again.reading.orAgain(
      () =>
        restoreToStream({
          ciphertext: { path },
          ...(sha256 === undefined ? {} : { sha256 }),
          identities,
          write: (piece) => stdout.write(piece),
          signal,
          onProgress: ({ phase, bytes, totalBytes }) => line.update(phase, bytes, totalBytes),
        }),
      () => !stdout.isBegun,
    );
    await stdout.end();
    line.clear();
    again.sayIfSecondWasRight();
    terminal.note(`${terminal.onTalk.good("✓")} stdout  ${formatBytes(sizeBytes)}, ${howChecked(sha256)}`);
    return 0;
  } catch (error) {
    line.clear();
    if (stdout.isBegun)
      terminal.say(`${terminal.onTalk.bad("✗")} the output on stdout is not the whole dump: do not use it`);
    if (!(error instanceof DamagedCiphertext)) throw error;
    again.sayDamaged(error, stdout.isBegun ? "" : ", so nothing was written");
    return 1;
  } finally {
    line.clear();
  }
}

const howChecked = (sha256: string | undefined): string =>
  sha256 === undefined
    ? "authenticated to its end"
    : "authenticated to its end, and its digest matches its receipt";

function requireOutput(call: Call, output: string | undefined): OutputFile | typeof STDOUT {
  if (output === undefined)
    throw new UserError("usage", "say where to: --output FILE, --output - for stdout, or --into DATABASE");
  if (output === STDOUT) {
    if (call.flags.isOn("json"))
      throw new UserError("usage", "with --output - stdout has the dump: leave out --json, or give a file");
    if (process.stdout.isTTY)
      throw new UserError(
        "usage",
        "a dump is not written to a terminal: send it to a file or a program (to see it all the same, … | cat)",
      );
    return STDOUT;
  }
  return outputFile(call, output);
}
