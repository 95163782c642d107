/**
 * What `npm start` runs beside the service: builds what other hosts install, unless something was
 * built before, with the lowest priority. Ends with the service.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { removeBuildState, writeBuildState } from "./build-state.ts";
import { REPOSITORY } from "./release.ts";

const OUT = join(REPOSITORY, "dist");
/** flock's exit code if another one builds here. */
const TAKEN = 75;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

// A person who names a directory has packages, or wants none.
if (process.env["ATTESTORE_DOWNLOADS"] === undefined && !existsSync(join(OUT, "SHA256SUMS.minisig"))) build();

function build(): void {
  const cache = join(REPOSITORY, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const lock = ["-n", "-E", String(TAKEN), join(cache, "packages.lock")];
  const program = [process.execPath, join(import.meta.dirname, "main.ts"), "--fast"];
  say("Building packages for other hosts in the background. The dashboard shows how far they are.");
  // A process group of its own, so that the programs which it runs end with it.
  const child = spawn("flock", [...lock, "nice", "-n", "19", ...program], {
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let wrong = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (wrong = (wrong + text).slice(-4000)));
  child.once("error", (error) => failed(error.message));
  child.once("close", (code) => {
    if (code === 0) say("Packages for other hosts are ready.");
    else if (code !== TAKEN && code !== null) failed(wrong);
  });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.once(signal, () => {
      if (child.pid !== undefined && child.exitCode === null) {
        process.kill(-child.pid, "SIGKILL");
        removeBuildState(OUT);
      }
      process.exit();
    });
}

function failed(reason: string): void {
  writeBuildState(OUT, { state: "failed", at: new Date().toISOString() });
  say(`Packages for other hosts could not be built. To try again: npm run package\n${reason}`);
}
