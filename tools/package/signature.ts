import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { spawnSync } from "node:child_process";
import { REPOSITORY } from "./release.ts";
import { runProgram } from "./run-program.ts";

export interface SigningKey {
  /** minisign's secret key file. */
  readonly file: string;
  /** minisign's base64 of the public one. */
  readonly publicKey: string;
}

/**
 * The key that was named, whose public half lies beside it as `<file>.pub`; else one of this
 * checkout's own, made without a password.
 */
export function signingKey(given: string | undefined): SigningKey {
  const file = given ?? join(REPOSITORY, "data/packages/minisign.key");
  if (given === undefined && !existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    runProgram("minisign", ["-G", "-W", "-p", `${file}.pub`, "-s", file]);
  }
  const [, publicKey = ""] = readFileSync(`${file}.pub`, "utf8").split("\n");
  if (!/^RW[A-Za-z0-9+/]{54}$/.test(publicKey))
    throw new Error(`${file}.pub contains no minisign public key`);
  return { file, publicKey };
}

/**
 * Signs a file into `<file>.minisig`. minisign asks for the key's password, if it has one, on the
 * terminal.
 */
export function sign(file: string, key: SigningKey, comment: string): void {
  const args = ["-S", "-s", key.file, "-m", file, "-t", comment, "-c", `signature of ${comment}`];
  const { status, error } = spawnSync("minisign", args, {
    stdio: ["inherit", "ignore", "inherit"],
  });
  if (error ?? status !== 0) throw new Error(`minisign could not sign ${file} with ${key.file}`);
}
